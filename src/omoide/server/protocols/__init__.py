"""The protocols that clients may speak besides Chat Completions, one module each.

A module converts a request into a Chat Completions body, the one internal form (`fields` reads it
and refuses what cannot be converted), and gives a `ReplyWriter` that writes the answer back in the
client's protocol. Memory, recording and forwarding are those of `proxy.converse`, whichever the
protocol. An upstream of another protocol than Chat Completions would be an `Upstream` that converts
on its own side (`omoide.server.upstream`); none does so yet.
"""
