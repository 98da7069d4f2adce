"""Policies in tests written in Python, and the fixture for them."""

from __future__ import annotations

import pytest

from podstrat.policy.policies import Policies
from podstrat.strategy.request import User

pytest_plugins = ["pytester"]


def pod(image: str, **metadata) -> dict:
    spec = {"containers": [{"name": "c", "image": image}]}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web", **metadata}, "spec": spec}


def test_create(examples):
    policies = Policies(examples / "no-latest-tag.yaml", examples / "no-token.yaml")
    verdict = policies.create(pod("nginx:latest"))
    assert verdict.name == "deny"
    assert verdict.says("images without a fixed tag: nginx:latest")
    verdict = policies.create(pod("nginx:1.29", namespace="elsewhere"))
    assert (verdict.name, verdict.messages) == ("allow", ())
    assert verdict.object["spec"]["automountServiceAccountToken"] is False


def test_update_and_delete(examples):
    policies = Policies(examples / "immutable-labels.yaml", examples / "protected-objects.yaml")
    old = pod("a:1", labels={"cost-center": "7"}, annotations={"example.com/protected": "true"})
    assert policies.update(old, old).name == "allow"
    assert policies.update(pod("a:1"), old).says("the label cost-center cannot be changed")
    assert policies.delete(old, user=User("jane")).says("jane may not delete web, which is protected")
    assert policies.delete(old, user=User("joe", ("administrators",))).name == "allow"


def test_objects_beside_files(examples):
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop", "labels": {"team": "shop"}}}
    verdict = Policies(examples / "default-team-label.yaml", namespace).create(pod("a:1", namespace="shop"))
    assert verdict.object["metadata"]["labels"] == {"team": "shop"}


def test_a_directory_with_its_tests(examples):
    assert Policies(examples).create(pod("nginx:latest")).name == "deny"


def test_what_is_refused(tmp_path, examples):
    text = (examples / "no-token.yaml").read_text()
    (tmp_path / "bad.yaml").write_text(text.replace("object.spec.?auto", "obj.spec.?auto"))
    with pytest.raises(ValueError, match=r"bad.yaml:2 MutatingAdmissionPolicy/no-token: .* undeclared reference to 'obj'"):
        Policies(tmp_path / "bad.yaml")
    with pytest.raises(ValueError, match="unknown kind Pot of v2"):
        Policies().create({"apiVersion": "v2", "kind": "Pot", "metadata": {}})


def test_the_fixture(pytester, examples):
    pytester.makeini(f"[pytest]\npodstrat_policies = {examples / 'no-latest-tag.yaml'}\n")
    pytester.makepyfile(f"""
        def test_it(podstrat_policies):
            verdict = podstrat_policies.create({pod("nginx:latest")!r})
            assert verdict.name == "deny"
            assert verdict.says("images without a fixed tag: nginx:latest")
    """)
    pytester.runpytest_inprocess().assert_outcomes(passed=1)
