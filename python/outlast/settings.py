"""Every setting of scenario files by name, for editors and notebooks to complete.

    from outlast import settings

    outlast.run("demo", {settings.device.ftl.gc.policy: "fifo"})

A setting is its dotted name (`"device.ftl.gc.policy"`), a text; its `__doc__` says what it means, its default and its
choices. One that is not there raises `AttributeError`, with what may have been meant.
"""

from outlast import setting as _setting


def __getattr__(name: str) -> _setting.Setting:
    known = _setting.tree()
    if name in known:
        return known[name]
    if name.startswith("_"):
        raise AttributeError(f"module 'outlast.settings' has no attribute '{name}'")
    raise AttributeError(_setting.missing(name, known))


def __dir__() -> list[str]:
    return sorted(_setting.tree())
