"""What is private must not be told: not by name, relation, error or reuse, on every database."""

import re
from contextlib import suppress
from dataclasses import dataclass, field
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import delete, false

from provenn.catalogs import (
    CombineAttributes,
    ConcatSources,
    ExcludeSources,
    KeepAttributes,
    RestrictSources,
    SelectSources,
    cone,
)
from provenn.data import fragments, run_records
from provenn.database.fences import EPOCH
from provenn.database.tables import metadata
from provenn.database.tables import settings as setting_rows
from provenn.errors import (
    CatalogNameError,
    ContradictionError,
    NotYoursError,
    PopulationError,
    ProjectError,
    ProvennError,
    UnknownCatalogError,
    UnknownFactError,
    VisibilityError,
)
from provenn.files.data_folder import StoredFile
from provenn.formats.opening import open_database
from provenn.knowledge import counts
from provenn.knowledge.observations import observe_fact
from provenn.logic import disjoint, empty, equal, nonempty, overlapping, subset
from tests.archive.samples import archive_on
from tests.catalogs.samples import base, derived

STARS, OTHERS = base("stars"), base("others")
BRIGHT = SelectSources.of(STARS, "vmag < 6")
VERY = SelectSources.of(BRIGHT, "vmag < 2")
FAINT = ExcludeSources(STARS, BRIGHT)
NEAR = derived(STARS, dist="1000 / plx")
FAR = derived(VERY, dist="1000 / plx", twice="2 * vmag")
BOTH = RestrictSources(STARS, OTHERS)
ALL = ConcatSources.of(BRIGHT, OTHERS, overlap="first")
WIDE = CombineAttributes.of(BRIGHT, KeepAttributes.of(NEAR, ["dist"]))
POOL = (STARS, OTHERS, BRIGHT, VERY, FAINT, NEAR, FAR, BOTH, ALL, WIDE)
LINEAGE = {item.digest: frozenset(catalog.digest for catalog in cone(item)) for item in POOL}

ADA, BOB, CAROL = "ada", "bob", "carol"
COMMON, HERS = "common", "hers"  # Bob is a member of the first alone, Ada of both
FOR_BOB = (("public", None), ("project", COMMON))
NOT_FOR_BOB = (("private", None), ("project", HERS))


@dataclass
class Story:
    """What three people do with an archive; and what of it is Ada's alone.

    A step is a function of the archive as its person sees it. Which steps are private is decided by a model of its own:
    Ada never shows a secret catalog to Bob, and what she does with one is private while nobody shares it with him.
    """

    random: Random
    steps: list = field(default_factory=list)  # (person, whether it is private, function)
    shared: dict = field(default_factory=dict)  # name -> (owner, digest), of names that Bob sees for others or himself
    number: int = 0

    def __post_init__(self):
        secret = self.random.sample(POOL, self.random.randrange(2, 7))
        self.secret = [
            catalog for catalog in POOL if any(element.digest in LINEAGE[catalog.digest] for element in secret)
        ]
        kinds = [self.define, self.define, self.define, self.declare, self.declare, self.work, self.work, self.ask]
        for _ in range(self.random.randrange(6, 18)):
            self.random.choice([*kinds, self.unname])()

    def is_shared(self, catalog):
        return any(catalog.digest in LINEAGE[digest] for _, digest in self.shared.values())

    def person(self):
        return self.random.choice([ADA, ADA, ADA, BOB, CAROL])

    def define(self):
        who, catalog = self.person(), self.random.choice(POOL)
        self.number += 1
        name = f"{who}-{self.number}"
        visibility, project = self.random.choice(FOR_BOB)
        private = who == ADA and catalog in self.secret
        if private:
            visibility, project = self.random.choice(NOT_FOR_BOB)
        elif who != ADA and self.random.random() < 0.4:
            visibility, project = "private", None
        else:
            self.shared[name] = (who, catalog.digest)
        named = private or visibility != "private" or self.random.random() < 0.7

        def step(archive):
            result = archive.define(catalog)
            if named:
                result.named(name, visibility=visibility, project=project)

        self.steps.append((who, private, step))

    def unname(self):
        own = [name for name, (who, _) in self.shared.items() if who in (BOB, CAROL)]
        if own:
            name = self.random.choice(own)
            who, _ = self.shared.pop(name)
            self.steps.append((who, False, lambda archive: archive.delete_name(name)))

    def declare(self):
        who, (left, right) = self.person(), self.random.sample(POOL, 2)
        relation = self.random.choice([subset, disjoint, equal, overlapping])
        statement = self.random.choice([relation(left.digest, right.digest), nonempty(left.digest), empty(left.digest)])
        visibility, project = self.random.choice(NOT_FOR_BOB if who == ADA else FOR_BOB)
        if who == BOB and self.random.random() < 0.5:
            visibility, project = "private", None

        def step(archive):
            with suppress(ContradictionError, UnknownCatalogError):
                archive.declare(statement, reason=f"{who} says", visibility=visibility, project=project)

        self.steps.append((who, who == ADA, step))

    def work(self):
        who, catalog, kind = self.person(), self.random.choice(POOL), self.random.choice(["store", "count", "run"])
        rows, private = 3, who == ADA and not self.is_shared(catalog)

        def step(archive):
            database = archive.context.database
            with suppress(ContradictionError, UnknownCatalogError), database.writing() as writing:
                archive.catalog(catalog.digest)  # what one does not see, one does not work with
                if kind == "store":
                    columns = [(attribute.identity, attribute.name) for attribute in catalog.schema.attributes]
                    file = [StoredFile("a.parquet", 3, "0")]
                    place = f"{who}/{catalog.digest}"
                    fragments.register(writing, catalog, columns, location=place, rows=rows, files=file, seconds=1.0)
                elif kind == "count":
                    counts.record_count(writing, catalog.digest, rows)
                    observe_fact(writing, nonempty(catalog.digest), f"{rows} sources counted")
                else:
                    number = run_records.begin_run(writing, f"what {who} calls it", catalog=catalog.digest)
                    run_records.end_run(writing, number, "done", seconds=1.0, rows=rows, computed=["x"])

        self.steps.append((who, private, step))

    def ask(self):
        who, (left, right) = self.person(), self.random.sample(POOL, 2)

        def step(archive):
            with suppress(ProvennError):
                archive.relate(left.digest, right.digest)

        self.steps.append((who, who == ADA, step))

    def told(self, archive, *, private):
        """Let it happen, with or without what is private; return all that Bob is told then."""
        for project, people in ((COMMON, (BOB, CAROL)), (HERS, ("dan",))):
            archive.as_seen_by(ADA).new_project(project)
            for person in people:
                archive.as_seen_by(ADA).add_member(project, person)
        archive.calculator("doubling", sql={"doubled": "2 * twice"})
        seen = {who: archive.as_seen_by(who) for who in (ADA, BOB, CAROL)}
        for who, is_private, step in self.steps:
            if private or not is_private:
                step(seen[who])
        return Looking(seen[BOB]).everything(self)


class Looking:
    """Everything that a person can ask, as text without times; numbers are those of what this person sees."""

    def __init__(self, archive):
        self.archive = archive
        known = [fact.id for fact in archive.facts(retracted=True)]
        self.numbers = {str(number): f"fact-{place}" for place, number in enumerate(known)}

    def __call__(self, question, *arguments, **options):
        try:
            answer = question(*arguments, **options)
        except ProvennError as error:
            answer = f"{type(error).__name__}: {error.message} / {error.hint}"
        return self.plain(answer)

    def plain(self, answer):
        text = answer if isinstance(answer, str) else str(answer)
        text = re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d", "then", text)
        return re.sub(r"#(\d+)", lambda match: "#" + self.numbers.get(match[1], "unseen"), text)

    def everything(self, story):
        archive, output = self.archive, {}
        output["names"] = self(lambda: sorted(archive))
        output["count"] = self(len, archive), self(archive.populations), self(archive.owners)
        output["attributes"] = self(archive.attributes, "star")
        output["facts"] = self(lambda: [self.fact(fact) for fact in archive.facts(retracted=True)])
        output["fragments"] = self(lambda: [self.fragment(fragment) for fragment in archive.fragments(dropped=True)])
        output["runs"] = self(
            lambda: [(run.target, run.name, run.by, run.rows, run.computed) for run in archive.runs()]
        )
        output["unproved"] = self(lambda: sorted(element.name for element in archive.unproved()))
        output["projects"] = self(lambda: [(project.name, project.members) for project in archive.projects()])
        for sort in ("newest", "oldest", "name"):
            output["search", sort] = self(lambda sort=sort: self.entries(sort=sort))
        filters = [{"text": "vmag <"}, {"text": "ada"}, {"text": STARS.digest[:6]}, {"owner": ADA}, {"owner": BOB}]
        for item in [
            *filters,
            {"named": True},
            {"kind": "SelectSources"},
            {"attribute": "dist"},
            {"population": "star"},
        ]:
            output["search", str(item)] = self(
                lambda element=item: (self.entries(**element), archive.matches(**element))
            )
        for name in [*(f"{who}-{number}" for who in (ADA, CAROL) for number in range(story.number + 1)), "ada"]:
            output["name", name] = [
                self(lambda name=name: archive[name].digest),
                self(lambda name=name: [(change.catalog, change.by) for change in archive.log(name)]),
                self(archive.relate, name, STARS.digest),
                self(archive.prove, f"nonempty({name})" if name.isalnum() else f"nonempty(`{name}`)"),
                self(archive.target, name, ["vmag"]),
                self(lambda name=name: name in archive),
            ]
        for catalog in POOL:
            output[catalog.digest] = list(self.about(catalog))
        for left in POOL:
            for right in POOL[: POOL.index(left)]:
                output["relate", left.digest, right.digest] = self(archive.relate, left.digest, right.digest)
        output["compare"] = [self(archive.compare, STARS.digest, BRIGHT.digest, element.digest) for element in POOL[3:]]
        return output

    def about(self, item):
        archive, digest = self.archive, item.digest
        yield self(lambda: archive.catalog(digest[:8]).digest)
        yield self(archive.describe, digest)
        yield self(archive.lineage, digest)
        yield self(archive.names_of, digest)
        yield self(lambda: [self.fact(fact) for fact in archive.facts(digest, retracted=True)])
        yield self(lambda: [self.fragment(fragment) for fragment in archive.fragments(digest)])
        yield self(lambda: [(run.by, run.name) for run in archive.runs(digest)])
        yield self(lambda: [self.fact(fact) for fact in archive.provenance(digest).facts])
        yield self(lambda: archive.neighbourhood(digest, depth=3).picture)
        for question in (archive.same_sources, archive.covering, archive.inside, archive.apart_from):
            yield self(lambda question=question: [(element.name, element.digest) for element in question(digest)])
        yield self(lambda: [catalog.digest for catalog in archive.same_sources(digest, by_construction=True)])
        for message in (nonempty(digest), empty(digest), subset(digest, STARS.digest)):
            yield self(lambda statement=message: self.proof(archive.prove(statement)))
        for attributes in (["dist"], ["vmag", "twice"], ["doubled"], ["nothing"]):
            yield self(lambda attributes=attributes: archive.target(digest, attributes, missing="null").plan())

    def entries(self, **options):
        result = self.archive.search(**options)
        return [(catalog.digest, catalog.names, catalog.created_by, catalog.attributes) for catalog in result]

    def fact(self, fact):
        return f"#{fact.id}", str(fact.statement), fact.reason, fact.declared_by, fact.holds, fact.retracted_reason

    def fragment(self, fragment):
        return (
            fragment.name,
            fragment.attributes,
            fragment.fragment.stored_by,
            fragment.unusable,
            fragment.fragment.location,
        )

    def proof(self, proof):
        return proof.verdict, [str(reason) for reason in proof.reasons]


# Both classes that mix it in run one test, each on archives that it makes itself.
_SHARED = [HealthCheck.function_scoped_fixture, HealthCheck.differing_executors]


@pytest.mark.filterwarnings("ignore::provenn.errors.ProvennWarning")  # of random declarations
class VisibilityContract:
    @pytest.fixture
    def archive(self, place):
        with archive_on(open_database(place, who="root")) as archive:
            yield archive

    def empty(self, archive):
        with archive.context.database.writing() as writing:
            for table in reversed(metadata.sorted_tables):
                # It stays the archive that was opened.
                kept = table.c.key == EPOCH if table is setting_rows else false()
                writing.connection.execute(delete(table).where(~kept))

    def same_with_and_without(self, archive, seed):
        worlds = []
        for private in (True, False):
            self.empty(archive)
            worlds.append(Story(Random(seed)).told(archive, private=private))
        with_them, without = worlds
        assert {key: (with_them[key], without[key]) for key in without if with_them[key] != without[key]} == {}

    def test_what_is_private_is_not_there_for_others(self, archive):
        ada, bob = archive.as_seen_by(ADA), archive.as_seen_by(BOB)
        ada.define(STARS, "stars")
        secret = ada.define(BRIGHT).named("secret", visibility="private")
        ada.declare(nonempty(BRIGHT.digest), reason="she knows", visibility="private")
        assert (list(ada), list(bob), len(ada), len(bob)) == (["secret", "stars"], ["stars"], 2, 1)
        assert archive["secret"] == secret, "who sees everything sees it, too"
        for word in ("secret", BRIGHT.digest, BRIGHT.digest[:6]):
            with pytest.raises(UnknownCatalogError, match="no catalog is named"):
                bob.catalog(word)
        with pytest.raises(UnknownCatalogError) as error:
            bob.catalog("secrets")
        assert "secret'" not in str(error.value.hint)
        with pytest.raises(UnknownCatalogError):
            bob.relate(secret, "stars")  # even if somebody handed it over
        assert bob.facts() == []
        with pytest.raises(UnknownFactError):
            bob.retract(ada.facts()[0].id)
        assert ada.prove("nonempty(stars)")
        assert not bob.prove("nonempty(stars)"), "it is used in the proofs of its owner alone"
        assert not archive.prove("nonempty(stars)")
        assert [node.name for node in bob.neighbourhood("stars").picture.nodes] == ["stars"]
        assert bob.neighbourhood("stars").picture.nodes[0].below == 0
        with pytest.raises(CatalogNameError, match="the name secret is taken"):
            bob.name("stars", "secret")

    def test_who_defines_what_another_has_privately_is_told_of_nobody_else(self, archive):
        ada, bob, carol = (archive.as_seen_by(who) for who in (ADA, BOB, CAROL))
        ada.define(BRIGHT, "stars-of-ada").named("stars-of-ada", visibility="private")
        with ada.context.database.writing() as writing:
            counts.record_count(writing, BRIGHT.digest, 7)
        catalog = bob.define(BRIGHT)
        assert [(entry.created_by, entry.names) for entry in bob.search()] == [(BOB, ()), (BOB, ())]
        with bob.context.database.writing() as writing:
            assert counts.find_counts(writing, [BRIGHT.digest]) == {}
            counts.record_count(writing, BRIGHT.digest, 7)
            assert counts.find_counts(writing, [BRIGHT.digest]) == {BRIGHT.digest: 7}
        catalog.named("bright", visibility="public")
        assert [(entry.created_by, entry.names) for entry in carol.search()] == [(BOB, ("bright",))]
        assert carol.describe(STARS.digest).created_by == BOB, "it is seen in the lineage of bright"
        assert carol.owners() == bob.owners() == (BOB,)

    def test_a_project_sees_what_its_members_show_it(self, archive):
        ada, bob, carol = (archive.as_seen_by(who) for who in (ADA, BOB, CAROL))
        ada.new_project("pulsars")
        ada.define(STARS).named("ours", project="pulsars")
        fact = ada.declare("nonempty(ours)", visibility="project", project="pulsars")
        assert "ours" not in bob
        ada.add_member("pulsars", BOB)
        assert "ours" in bob
        assert bob.prove("nonempty(ours)")
        assert [project.members for project in bob.projects()] == [(ADA, BOB)]
        assert carol.projects() == []
        for refused in (
            lambda: bob.add_member("pulsars", CAROL),
            lambda: bob.delete_name("ours"),
            lambda: bob.retract(fact.id),
        ):
            with pytest.raises(NotYoursError):
                refused()
        bob.define(BRIGHT)
        with pytest.raises(NotYoursError):
            bob.name(BRIGHT.digest, "ours", move=True)
        with pytest.raises(ProjectError, match="there is no project 'pulsars'"):
            carol.define(STARS).named("mine", project="pulsars")
        ada.remove_member("pulsars", BOB)
        assert "ours" not in bob
        with pytest.raises(ProjectError, match="cannot leave it"):
            ada.remove_member("pulsars", ADA)
        with pytest.raises(ProjectError, match="taken"):
            carol.new_project("pulsars")

    def test_who_sees_a_name_can_change_and_its_history_tells_it_to_those_who_may_know(self, archive):
        ada, bob = archive.as_seen_by(ADA), archive.as_seen_by(BOB)
        ada.define(BRIGHT)
        ada.name(STARS.digest, "base", visibility="private")
        ada.name(BRIGHT.digest, "bright", visibility="private")
        assert ada.revealed(BRIGHT.digest) == ("base", "bright")
        ada.name(BRIGHT.digest, "bright", visibility="public")
        assert [change.visibility for change in ada.log("bright")] == ["public", "private"]
        assert [change.visibility for change in bob.log("bright")] == ["public"]
        assert "base" not in str(bob.lineage("bright")), "how it is defined is seen, and not what it is called"
        assert bob.catalog(STARS.digest).names == ()
        with pytest.raises(UnknownCatalogError):
            bob.log("base")
        ada.name(BRIGHT.digest, "bright", visibility="private")
        assert "bright" not in bob
        for wrong in ({"visibility": "open"}, {"visibility": "project"}, {"visibility": "public", "project": "x"}):
            with pytest.raises(VisibilityError):
                ada.name(BRIGHT.digest, "bright", **wrong)

    def test_a_declaration_that_contradicts_what_is_hidden_is_accepted_and_suspends_it_for_its_owner(self, archive):
        ada, bob = archive.as_seen_by(ADA), archive.as_seen_by(BOB)
        ada.define(BRIGHT, "bright")
        hidden = ada.declare("nonempty(bright)", visibility="private")
        own = bob.declare("empty(bright)", visibility="private")
        assert ada.facts()[0].holds, "what Bob keeps for himself contradicts nothing that Ada knows"
        bob.retract(own.id)
        declared = bob.declare("empty(bright)", reason="looked")
        assert [fact.id for fact in bob.facts(retracted=True)] == [own.id, declared.id]
        (suspended,) = [fact for fact in ada.facts(retracted=True) if fact.id == hidden.id]
        assert suspended.retracted_reason == f"suspended: contradicted by fact #{declared.id}"
        assert ada.prove("empty(bright)")
        with pytest.raises(ContradictionError):
            ada.declare("nonempty(bright)", visibility="private")

    def test_new_names_are_as_visible_as_the_archive_says(self, archive):
        ada, bob = archive.as_seen_by(ADA), archive.as_seen_by(BOB)
        assert archive.default_visibility == "public"
        with pytest.raises(NotYoursError):
            ada.default_visibility = "private"
        archive.default_visibility = "private"
        ada.define(STARS, "stars")
        assert "stars" in ada
        assert "stars" not in bob

    def test_a_population_that_only_others_have_is_known_by_name_alone(self, archive):
        archive.as_seen_by(ADA).define(base("names", {"hip": "string"}), None)
        bob = archive.as_seen_by(BOB)
        assert bob.populations() == ()
        with pytest.raises(PopulationError) as error:
            bob.define(STARS)
        assert "string" not in str(error.value)

    def test_the_audit_log_tells_who_did_what_and_from_where_to_who_sees_everything(self, archive):
        ada = archive.as_seen_by(ADA, via="http")
        ada.define(STARS, "stars")
        ada.retract(ada.declare("nonempty(stars)").id, reason="no")
        ada.delete_name("stars")
        done = [(item.who, item.via, item.action, item.subject) for item in archive.audit()]
        assert [item[:3] for item in done] == [
            (ADA, "http", action) for action in ("delete name", "retract", "declare", "name")
        ]
        assert [item.action for item in archive.audit(most=1)] == ["delete name"]
        assert [item.subject for item in archive.audit(action="name")] == ["stars"]
        with pytest.raises(NotYoursError):
            ada.audit()
        with pytest.raises(NotYoursError):
            ada.collect_garbage()

    @settings(max_examples=1, suppress_health_check=_SHARED, deadline=None)
    @given(seed=st.integers(0, 2**32))
    def test_all_that_bob_can_ask_is_the_same_whether_private_things_of_ada_exist_or_not(self, archive, seed):
        self.same_with_and_without(archive, seed)

    @pytest.mark.campaign
    @settings(max_examples=300, suppress_health_check=_SHARED, deadline=None)
    @given(seed=st.integers(0, 2**32))
    def test_so_it_is_in_hundreds_of_archives(self, archive, seed):
        self.same_with_and_without(archive, seed)
