"""The HTTP server: an OpenAI-compatible proxy that remembers, REST for the library's verbs, and a
page that shows it all (`page`).

A request passes `app` (the outermost: logs, figures), `door` (who is it, may they, is it well
formed) and then one handler of `proxy`, `reads`, `looking`, `writes` or `probes`, all listed in the
one table that the OpenAPI document is made of: `routes`. To put the server into a program of your
own, give `app.make_app` a `Server`; `omoide serve` does it in `run`.
"""
