"""omoide's memory behind the interfaces of agent frameworks: one module for each.

Every module imports its framework, which the extra of the same name installs. All of them take a
memory as `omoide.open`, `omoide.connect` or their async twins give it.
"""
