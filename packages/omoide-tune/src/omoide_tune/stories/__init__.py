"""Our own stories: a person who talks with an assistant over weeks, written by hand in five
languages (`written/stories.*.txt`). Each line has the facts that it tells and those that it makes
untrue; at the end stand messages with the replies of a friend who remembers."""
