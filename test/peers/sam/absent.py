"""SDKs of clouds, browsers and speech that SAM imports and these conversations do not use. They are not installed (excludes.txt): they would be
half of the installation and most of the time to start. An import of one gives a module whose every name is an empty class."""

import importlib.abc
import importlib.machinery
import sys
import types

ABSENT = (
    "azure",
    "bm25s",
    "google.cloud.aiplatform",
    "google.cloud.bigquery",
    "google.cloud.discoveryengine_v1beta",
    "google.cloud.secretmanager",
    "google.cloud.spanner_v1",
    "google.cloud.speech",
    "google.cloud.storage",
    "googleapiclient",
    "kaleido",
    "markitdown",
    "mermaid_cli",
    "playwright",
    "plotly",
    "psycopg2",
    "pydub",
    "vertexai",
)


class AbsentModule(types.ModuleType):
    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return type(name, (), {})


class AbsentFinder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def find_spec(self, fullname, path=None, target=None):
        if any(fullname == name or fullname.startswith(f"{name}.") for name in ABSENT):
            return importlib.machinery.ModuleSpec(fullname, self, is_package=True)
        return None

    def create_module(self, spec):
        return AbsentModule(spec.name)

    def exec_module(self, module):
        pass


sys.meta_path.insert(0, AbsentFinder())
