# SPDX-License-Identifier: Apache-2.0
"""Stands in for packages that are not installed (PyTorch and the like), so that the code of a framework's checkout that
reads and checks configurations can run without them and without a GPU. Whatever is asked of a stand-in is another
one."""
import functools
import importlib.abc
import importlib.machinery
import os
import re
import sys
import types
import typing
import warnings


class Anything(type(typing.Protocol)):
    """A class that has every attribute, which is such a class again, and is its own result; protocols and it can be
    bases of one class."""

    def __getattr__(cls, name):
        if name.startswith("__") or name.startswith("_abc_") or name.startswith("_is_"):
            raise AttributeError(name)
        return stand_in(f"{cls.__name__}.{name}")

    def __call__(cls, *arguments, **keywords):
        only = arguments[0] if len(arguments) == 1 and not keywords else None
        if isinstance(only, types.FunctionType) or isinstance(only, type) and not isinstance(only, Anything):
            return only  # a decorator
        return super().__call__()

    def __instancecheck__(cls, instance):
        return type.__instancecheck__(cls, instance)

    def __subclasscheck__(cls, other):
        return type.__subclasscheck__(cls, other)

    def __or__(cls, other):
        return cls

    __ror__ = __or__

    def __getitem__(cls, item):
        return cls

    def __iter__(cls):
        return iter(())

    def __len__(cls):
        return 0

    def __bool__(cls):
        return False

    def __lt__(cls, other):
        return True

    __gt__ = __le__ = __ge__ = __lt__


KNOWN = {}


def stand_in(name):
    if name not in KNOWN:
        KNOWN[name] = Anything(
            name, (), {"__init__": lambda self, *a, **k: None, "__call__": lambda self, *a, **k: self,
                       "__enter__": lambda self: self, "__exit__": lambda self, *a: False,
                       "__getattr__": lambda self, key: stand_in(f"{name}.{key}"),
                       "__iter__": lambda self: iter(()), "__module__": "stand_in"})
    return KNOWN[name]


class Module(types.ModuleType):
    """A package of which everything can be imported."""

    __path__ = []

    def __getattr__(self, name):
        if name.startswith("__"):
            if name == "__version__":
                return "2.9.0"
            raise AttributeError(name)
        return stand_in(f"{self.__name__}.{name}")


class Version:
    """Releases that compare, in place of packaging.version.Version."""

    def __init__(self, text="2.9.0"):
        self.release = tuple(int(part) for part in re.findall(r"\d+", str(text))[:3])
        self.major, self.minor, self.micro = (*self.release, 0, 0, 0)[:3]

    def __eq__(self, other):
        return self.release == other.release

    def __lt__(self, other):
        return self.release < other.release


functools.total_ordering(Version)
class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds the packages for which `stands_in(name)` holds, and makes each of whatever is asked for."""

    def __init__(self, stands_in):
        self.stands_in = stands_in

    def find_spec(self, fullname, path=None, target=None):
        if not self.stands_in(fullname.split(".")[0]):
            return None
        return importlib.machinery.ModuleSpec(fullname, self, is_package=True)

    def create_module(self, spec):
        return Module(spec.name)

    def exec_module(self, module):
        if module.__name__ == "torch":
            for name in ("float32", "float16", "bfloat16", "float", "half", "uint8", "int64", "long", "int32"):
                setattr(module, name, stand_in(f"torch.{name}"))
            module.dtype = stand_in("torch.dtype")
            module.cuda = importlib.import_module("torch.cuda")
            module.cuda.get_device_capability = lambda *_: (10, 0)
        if module.__name__ == "packaging.version":
            module.Version, module.parse = Version, Version


# ---- one file of many, each in a process of its own ----

def prepare(checkout, stands_in):
    sys.path.insert(0, checkout)
    warnings.simplefilter("ignore")
    sys.meta_path.append(Finder(stands_in))
    if not hasattr(typing, "override"):  # before Python 3.12
        typing.override = lambda method: method
    plain = functools.update_wrapper

    def update_wrapper(wrapper, wrapped, *arguments, **named):
        try:
            return plain(wrapper, wrapped, *arguments, **named)
        except TypeError:  # what is wrapped is a stand-in
            return wrapper

    functools.update_wrapper = update_wrapper
    functools.wraps = lambda wrapped, *_, **__: lambda wrapper: update_wrapper(wrapper, wrapped)


def check_each(checkout, files, stands_in, check):
    """Calls check(file) for each of the files, and prints whether it is taken; true where one is refused."""
    wrong = False
    for file in files:
        child = os.fork()
        if child == 0:
            prepare(checkout, stands_in)
            out = os.dup(1)
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
            try:
                check(file)
            except (Exception, SystemExit) as error:  # pylint: disable=broad-except
                if os.environ.get("TRACE"):
                    import traceback
                    traceback.print_exc()
                os.write(out, f"{file}: refused: {type(error).__name__}: {error}\n".encode())
                os._exit(1)
            os.write(out, f"{file}: taken\n".encode())
            os._exit(0)
        wrong |= os.waitpid(child, 0)[1] != 0
    return wrong
