"""The file that agents' hook lines name: ``"<python>" -IS "<...>/latch_client/hook.py" CONNECTOR [EVENT]``.

It only finds the shim beside it. The package is made by hand, because under ``-S`` no site-packages
and no editable install are on the path; the same line so works from a wheel and from a checkout, and
the shim comes from its cached bytecode, which a script itself never does.
"""

import posix
import sys


def run() -> int:
    package = type(sys)("latch_client")
    package.__path__ = [__file__.rpartition("/")[0]]
    sys.modules["latch_client"] = package
    from latch_client import shim

    return shim.main(sys.argv, posix.environ)


if __name__ == "__main__":
    try:
        code = run()
    except BaseException as error:  # whatever it is, it must not look like an allow: the agent reads 1 as one
        code = 2
        try:
            posix.write(
                2, f"latchd: the hook is broken ({type(error).__name__}); run `latchctl doctor`\n".encode()
            )
        except OSError:
            pass
    # Nothing is left to flush, and the interpreter's own end costs a millisecond.
    posix._exit(code)  # pyright: ignore[reportPrivateUsage]
