"""The first hour of a newcomer: nothing wrong goes silent, and every wrong step is answered with the next right one."""

import re
import subprocess
import sys
from pathlib import Path
from shutil import copytree
from tempfile import TemporaryDirectory

import pytest
from typer.testing import CliRunner

from provenn.archive import open_archive
from provenn.cli import app
from provenn.cli.table_fitting import fit_table
from provenn.spark.engine import Engine
from tests.archive.samples import write_parquet
from tests.cli.archive_session import Session
from tests.cli.commands import all_commands
from tests.cli.terminal import on_a_terminal
from tests.cli.test_app import run
from tests.permissions import drop_root

NARROW = {"COLUMNS": "80"}


@pytest.fixture
def near(stars):
    """Stars, near stars, and nearer stars."""
    stars("select stars 'plx > 3' --name near")
    stars("select stars 'plx > 4' --name very_near")
    return stars


@pytest.fixture
def without_spark(monkeypatch):
    """A Spark that must not start."""

    def refuse(_):
        raise AssertionError("Spark was started")

    monkeypatch.setattr(Engine, "_start", refuse)


# --- nothing wrong goes silent ---


def test_a_mistaken_declaration_warns_is_named_in_answers_and_suspended_by_a_check(near):
    said = near("declare 'disjoint(near, very_near)'")
    assert "warning: by this fact, very_near cannot have any sources" in said
    number = re.search(r"fact #(\d+)", said)[1]
    assert near("count very_near").startswith(f"0 sources, by fact #{number}, declared by ada on ")
    assert f"fact #{number}" in near("head very_near")
    assert near.json("count very_near")["rests_on"][0]["number"] == int(number)
    checked = near("count very_near --check")
    assert checked.startswith("3\n")
    assert f"fact #{number}" in checked
    assert "no longer used" in checked
    assert near("count very_near") == "3\n"


def test_a_declaration_that_equates_catalogs_warns(near):
    assert "warning: by this fact, near and very_near have the same sources" in near("declare 'near <= very_near'")


@pytest.mark.usefixtures("without_spark")
@pytest.mark.parametrize("suffix", ["parquet", "csv", "fits", "vot", "ecsv"])
def test_an_answer_proved_empty_is_written_without_spark(near, tmp_path, suffix):
    near("declare 'disjoint(near, very_near)'")
    for number, command in enumerate(("export very_near", "target very_near hip vmag plx dec -o")):
        file = tmp_path / f"out{number}.{suffix}"
        said = near(f"{command} '{file}'")
        assert "wrote 0 sources" in said
        assert "is empty by fact #" in said
        again = near.fails(f"{command} '{file}'")
        assert "already exists" in again
        if suffix == "csv":
            assert {"hip", "vmag", "plx", "dec"} <= set(file.read_text().strip().split(","))
            continue
        near(f"ingest back{number} '{file}' --key hip --population star")
        kinds = {attribute["name"]: attribute["type"] for attribute in near.json(f"show back{number}")["attributes"]}
        assert {"hip": "bigint", "vmag": "double", "plx": "double", "dec": "double"}.items() <= kinds.items()


def test_an_answer_to_a_query_is_called_so(near):
    near("declare 'disjoint(near, very_near)'")
    assert "your query is empty by fact #" in near("sql 'SELECT hip FROM very_near WHERE vmag < 8'")


@pytest.mark.parametrize("criterion", ["plx > 10 AND plx < 5", "vmag != NULL", "vmag = NULL"])
def test_a_selection_that_nothing_can_fulfil_warns(survey, criterion):
    said = survey(f"select stars '{criterion}' --name nothing")
    assert "warning: by its definition, nothing cannot have any sources" in said
    assert "warning" in survey("restrict bright nothing --name less")
    assert "warning" not in survey("select stars 'plx > 5' --name some")


# --- before Spark starts ---


@pytest.mark.usefixtures("without_spark")
def test_outputs_are_checked_before_spark_starts(survey, tmp_path):
    (tmp_path / "there.parquet").write_text("x")
    assert "cannot be told from its name" in survey.fails(f"export bright '{tmp_path}/out.txt'")
    assert "does not exist" in survey.fails(f"export bright '{tmp_path}/missing/out.parquet'")
    assert "already exists" in survey.fails(f"export bright '{tmp_path}/there.parquet'")
    assert "cannot be told" in survey.fails(f"target bright vmag -o '{tmp_path}/out.xyz'")
    assert "no runs" in survey("runs"), "a request that cannot succeed is not a failed run"


@pytest.mark.parametrize(
    "command", ["plot bright vmag plx", "sky bright", "relate bright near", "lineage near", "target bright vmag"]
)
def test_the_file_of_a_picture_is_checked_before_the_picture_is_made(survey, tmp_path, command, monkeypatch):
    monkeypatch.chdir(tmp_path)
    said = survey.fails(f"{command} --svg picture.png")
    assert "pictures are SVG, and picture.png has another suffix" in said
    assert "name it picture.svg" in said
    assert "create the folder first" in survey.fails(f"{command} --svg missing/picture.svg")
    assert [*tmp_path.glob("*.png")] == []


@pytest.mark.parametrize(
    "command",
    ["relate bright near", "lineage near", "target bright vmag --plan", "compare bright near", "prove 'near == near'"],
)
def test_a_picture_replaces_a_file_only_on_request(survey, tmp_path, command):
    picture = tmp_path / "picture.svg"
    picture.write_text("mine")
    assert "already exists" in survey.fails(f"{command} --svg '{picture}'")
    assert picture.read_text() == "mine"
    survey(f"{command} --overwrite --svg '{picture}'")
    assert picture.read_text().startswith("<svg")


def test_reports_are_named_as_what_they_are(survey, tmp_path):
    assert "name it bright.html" in survey.fails(f"report bright -o '{tmp_path}/bright.pdf'")
    assert "create the folder first" in survey.fails(f"report bright -o '{tmp_path}/missing/bright.html'")
    assert [*tmp_path.glob("bright*")] == []


@pytest.mark.usefixtures("without_spark")
def test_an_output_without_a_suffix_is_written_in_the_format_that_the_hint_asks_for(survey, tmp_path):
    survey("select bright 'vmag > 90 and vmag < 80' --name nothing")
    for number, request in enumerate(("export nothing", "target nothing vmag", "sql 'SELECT hip FROM nothing'")):
        option = "" if request.startswith("export") else "-o"
        assert "add --format" in survey.fails(f"{request} {option} '{tmp_path}/out{number}'")
        survey(f"{request} {option} '{tmp_path}/out{number}' --format ecsv")
        assert (tmp_path / f"out{number}").read_text().startswith("# %ECSV")
        assert "path" in survey.fails(f"{request} {option} ''")
        assert "abfss://" in survey.fails(f"{request} {option} 'https://host/out.csv'"), "an address is no folder"


def test_a_path_below_the_home_folder_means_that_folder_in_quotes_too(survey, tmp_path, monkeypatch):
    home, elsewhere = tmp_path / "home", tmp_path / "elsewhere"
    home.mkdir()
    elsewhere.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.chdir(elsewhere)
    survey("lineage near --svg '~/near.svg'")
    survey("report near '--output=~/near.html'")
    survey("backup '~/copy'")
    survey("archive export '~/survey.provenn'")
    assert survey.run("ls '--archive=~/copy'").stdout == survey("ls")
    assert {file.name for file in home.iterdir()} == {"near.svg", "near.html", "copy", "survey.provenn"}
    with open_archive("~/copy", create=False) as archive:
        archive.backup("~/second")
        archive.export_definitions("~/second.provenn")
    assert (home / "second").is_dir()
    assert (home / "second.provenn").is_file()
    assert [*elsewhere.iterdir()] == []


def test_a_missing_archive_is_answered_with_the_command_that_creates_it_there(survey, tmp_path):
    missing = tmp_path / "my survey"
    hint = survey.fails(f"ls --archive '{missing}'").splitlines()[-1]
    assert hint == f"hint: create one: provenn init '{missing}'"
    survey(hint.partition("provenn ")[2])
    assert "no named catalogs" in survey(f"ls --archive '{missing}'")


@pytest.mark.usefixtures("without_spark")
def test_permissions_are_checked_before_spark_starts(survey):
    with TemporaryDirectory() as temporary:  # of which, unlike pytest's, others may read the path
        folder = Path(temporary)
        moved = Session(copytree(survey.folder, folder / "survey"))
        fixed = folder / "fixed"
        fixed.mkdir()
        moved.run(f"export bright '{fixed}/out.parquet'")  # so that all that is imported on the way is there
        for path in (folder, *folder.rglob("*")):
            path.chmod(0o777)
        fixed.chmod(0o555)
        with drop_root():
            assert "cannot be written: permission denied" in moved.fails(f"export bright '{fixed}/out.parquet'")


@pytest.mark.usefixtures("without_spark")
def test_base_files_are_checked_before_spark_starts(survey, tmp_path):
    moved = tmp_path / "moved.parquet"
    file = Path(re.search(r"of (\S+\.parquet)", survey("show stars"))[1])
    content = file.read_bytes()
    try:
        file.rename(moved)
        assert "stars.parquet" in survey.fails(f"export bright '{tmp_path}/out.parquet'")
        assert "stars.parquet" in survey.fails("count bright --engine spark")
    finally:
        file.write_bytes(content)


@pytest.mark.usefixtures("without_spark")
def test_calculators_are_checked_before_spark_starts(survey, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "fits_of_mine.py").write_text("def fit(batch):\n    return batch.rename(columns={'vmag': 'fit'})\n")
    survey("calculator fitted fits_of_mine:fit --input vmag --output fit=double")
    Path("elsewhere").mkdir()
    monkeypatch.chdir("elsewhere")
    assert "the module of the calculator fits_of_mine:fit cannot be found" in survey.fails("target bright fit")


# --- what to do next ---


def test_what_is_empty_says_what_to_do(empty):
    assert "provenn init" in Session(empty.folder / "nowhere").fails("ls")
    assert "hint: provenn ingest" in empty("ls")
    assert "provenn declare" in empty("facts")
    assert "provenn store" in empty("fragments")
    assert "provenn export" in empty("runs")


@pytest.mark.parametrize(
    ("command", "next_command"),
    [
        ("refresh", "provenn ingest"),
        ("audit", "provenn ingest"),
        ("audit --action nonsense", "provenn audit"),
        ("project ls", "provenn project new"),
        ("quota ls", "provenn quota set"),
        ("token ls", "provenn token new"),
    ],
)
def test_a_list_of_nothing_says_what_to_do(empty, command, next_command):
    lines = empty(command).splitlines()
    assert len(lines) == 2, "that there is nothing, and a hint"
    assert lines[1].startswith(f"hint: {next_command}")


def test_a_search_without_matches_says_what_to_do(stars):
    assert "provenn ls lists all names" in stars("ls nothing_like_it")


NEEDY = sorted(
    name for name, command in all_commands().items() if any(parameter.required for parameter in command.params)
)


@pytest.mark.parametrize("command", NEEDY)
def test_a_missing_argument_is_explained_with_an_example(command, tmp_path):
    result = CliRunner().invoke(app, command.split(), env={"PROVENN_ARCHIVE": str(tmp_path), **NARROW})
    said = " ".join(re.sub("[│╭╮╰╯─]", " ", result.output).split())
    assert f"For example: provenn {command}" in said


def test_an_argument_too_many_is_answered_with_an_example(survey):
    said = " ".join(re.sub("[│\n]", " ", survey.fails("head bright 3")).split())
    assert "(3). For example: provenn head bright -n 3" in said


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        ("head bright -n three", "'-n': it must be a whole number"),
        ("sample bright abc", "'FRACTION': it must be a number"),
    ],
)
def test_a_number_that_is_none_is_refused_in_plain_words(survey, typed, words):
    assert words in " ".join(re.sub("[│\n]", " ", survey.fails(typed)).split())


@pytest.mark.parametrize("command", ["target bright vmag", "sql 'SELECT hip FROM bright'"])
def test_a_number_of_rows_is_not_taken_for_a_name(survey, command):
    said = " ".join(re.sub("[│\n]", " ", survey.fails(f"{command} -n 2")).split())
    assert "for 2 rows, write --head 2" in said
    assert "no catalog is named" in survey.fails("show 2")
    assert len(survey(f"{command} --head 2").splitlines()) == 3


@pytest.mark.parametrize("word", ["rm", "delete"])
def test_a_name_to_delete_that_is_missing_is_explained_with_a_deletion(survey, word):
    said = " ".join(re.sub("[│\n]", " ", survey.fails(word)).split())
    assert "For example: provenn name bright --delete" in said


def test_a_population_explains_itself(stars):
    said = " ".join(re.sub("[│\n]", " ", stars.fails("ingest more more.parquet --key hip")).split())
    assert "What one row is: star, galaxy, visit" in said


def test_a_missing_key_is_answered_with_the_columns_that_could_be_one(empty, tmp_path):
    file = write_parquet(tmp_path / "stars.parquet")
    said = " ".join(re.sub("[│\n]", " ", empty.fails(f"ingest stars '{file}' -p star")).split())
    assert "--key COLUMN, or use --no-key; columns that could be a key: hip" in said
    assert "vmag" not in said, "a magnitude identifies nothing"
    said = empty.fails("ingest stars nowhere.parquet -p star")
    assert "--key COLUMN" in said, "a file that is missing does not hide that the key is"


def test_a_comparison_with_nothing_is_led_to_one_of_two_catalogs(survey):
    said = " ".join(re.sub("[│\n]", " ", survey.fails("diff bright")).split())
    assert "bright is no archive; two catalogs are compared by provenn diff bright OTHER" in said


def test_an_unknown_option_or_word_of_a_group_is_answered_with_what_there_is(empty):
    said = " ".join(re.sub("[│\n]", " ", empty.fails("archive export -o file")).split())
    assert "For example: provenn archive export" in said
    assert "exchange has export, import." in empty.fails("exchange openlineage file")


def test_a_command_is_suggested_only_if_it_is_spelt_almost_so(empty):
    assert "Did you mean 'select'?" in empty.fails("slect stars")
    assert "Did you mean 'clients'?" in empty.fails("samp cleints")
    for word in ("frobnicate", "version", "import"):
        assert "mean" not in empty.fails(word), word


# --- what people type ---


def test_habits_of_other_programs_work(survey):
    assert survey("list") == survey("ls")
    assert survey("create") == survey("init")
    assert survey("describe bright") == survey("show bright")
    assert "provenn head bright -n 3" in survey("help head")
    assert "Catalogs that know" in survey("help")
    assert "portable file" in survey("help archive")
    assert survey("rm near").startswith("deleted the name near")
    assert "near" not in survey("ls")
    assert len(survey("head bright -n 1").splitlines()) == 2


def test_no_flag_looks_like_an_option_with_a_value():
    for command in ("ls", "archive export", "target", ""):
        said = CliRunner().invoke(app, [*command.split(), "--help"], env=NARROW).output
        assert "<bool>" not in said, command


def test_the_example_of_the_readme_is_proved_inside_an_archive(survey):
    typed = ["prove", "--given", "B <= A", "--given", "C == A", "--given", "D == B & C", "B == D"]
    ran = subprocess.run(
        [sys.executable, "-m", "provenn", *typed], cwd=survey.folder, capture_output=True, text=True, check=True
    )
    assert ran.stdout.startswith("proved: B == D")
    assert "none of these names is a catalog" in ran.stderr


# --- 80 columns ---


def test_tables_fit_a_terminal_without_breaking_words_or_times(near):
    near("declare 'nonempty(near)' --reason 'a long reason that explains at length why somebody believes it'")
    near("relate very_near near")
    long = "bright_and_near_stars_of_the_survey"
    near(f"select stars 'vmag < 6 AND plx BETWEEN 3 AND 500 AND vmag IS NOT NULL' --name {long}")
    prose = (f"show {long}", f"lineage {long}", "lineage stars --direction down", f"bounds {long}")
    tables = ("ls", "facts", "runs", "audit", "log near", "relate very_near near --why", "head stars")
    for typed in (*tables, *prose):
        shown = on_a_terminal(*near.words(typed), PROVENN_ARCHIVE=str(near.folder), PROVENN_ENGINE="", NO_COLOR="1")
        assert "provenn: " not in shown, "there is no error"
        assert max(map(len, shown.splitlines())) <= 80, typed


def test_lines_of_a_pipe_are_whole_even_if_a_shell_exports_its_width(near):
    reason = "a long reason that explains at length why somebody believes that there are such stars"
    near(f"declare 'nonempty(near)' --reason '{reason}'")
    for typed in ("facts", "relate near stars --why"):
        arguments = [*near.words(typed), "--archive", str(near.folder)]
        assert run(*arguments, COLUMNS="40").stdout == near(typed), typed
    assert reason in run("facts", "--archive", str(near.folder), COLUMNS="40").stdout


def test_a_table_too_wide_for_its_words_becomes_a_list():
    table = [("when", "what", "none"), ("2026-11-18 11:07", "x" * 30, "")]
    assert fit_table(table, 30) == ["when  2026-11-18 11:07", f"what  {'x' * 30}"]
    assert fit_table(table, 48) == ["when              what", f"2026-11-18 11:07  {'x' * 30}"]
    assert fit_table(table, None)[1] == f"2026-11-18 11:07  {'x' * 30}"


# --- ten errors of newcomers, each answered so that the next try succeeds ---

TEN_ERRORS = {
    "show brigth": ("did you mean bright", "show bright"),
    "select stars 'vmagg < 6'": ("did you mean vmag?", "select stars 'vmag < 6'"),
    "select stars 'vmag <'": ("write one SQL expression", "select stars 'vmag < 6'"),
    "derive stars d='float64(plx)'": ("did you mean double?", "derive stars d='double(plx)'"),
    "sample stars 10": ("did you mean 0.1?", "sample stars 0.1"),
    "ingest more MORE -p star": ("--key COLUMN", "ingest more MORE -p star --key hip"),
    "ingest more MORE --key hip": ("What one row is: star", "ingest more MORE --key hip -p star"),
    "ingest more MORE -p star --key HIP_ID": ("there are hip, ", "ingest more MORE -p star --key hip"),
    "head --json bright 3": ("unexpected extra argument", "head --json bright -n 3"),
    "bounds bright --archive MORE": ("is a file, and an archive is a folder", "bounds bright"),
}


@pytest.mark.parametrize("typed", TEN_ERRORS)
def test_the_answer_to_an_error_leads_to_the_next_try(survey, tmp_path, typed):
    told, better = TEN_ERRORS[typed]
    file = write_parquet(tmp_path / "more.parquet")
    result = survey.run(typed.replace("MORE", str(file)))
    assert result.exit_code == 2
    said = " ".join(re.sub("[│\n]", " ", result.stderr).split())
    assert told in said
    survey(better.replace("MORE", str(file)))


SLIPS = {
    "vmag < 6 && plx > 3": ("write AND for &&", "vmag < 6 AND plx > 3"),
    "vmag < 6 || plx > 3": ("write OR for ||", "vmag < 6 OR plx > 3"),
    "1 < vmag < 6": ("with AND: 10 < x AND x < 20", "1 < vmag AND vmag < 6"),
    "where vmag < 6": ("leave out WHERE", "vmag < 6"),
    "vmag => 6": ("write >= for =>", "vmag >= 6"),
    "vmag < 5,5": ("write a decimal point", "vmag < 5.5"),
    "vmag ** 2 < 6": ("write power(x, 2)", "power(vmag, 2) < 6"),
    "vmag ^ 2 < 6": ("a power is power(x, 2)", "power(vmag, 2) < 6"),
    "vmag in 1,2": ("write a list in parentheses", "vmag in (1, 2)"),
    "vmag between 1": ("write both ends", "vmag between 1 and 2"),
    "hip = “1”": ("write straight quotes: '1'", "string(hip) = '1'"),
    "np.isnan(vmag)": ("write ISNAN(vmag)", "ISNAN(vmag)"),
    "stars.vmag < 6": ("write vmag without a catalog", "vmag < 6"),
    "vmag < 6 and": ("something is missing at its end", "vmag < 6"),
    "v mag < 6": ("a name with spaces in `backquotes`", "vmag < 6"),
}
"""Criteria as in other languages, each with a part of the answer, and what it leads to."""


@pytest.mark.parametrize("criterion", SLIPS)
def test_a_criterion_of_another_language_is_answered_with_that_of_sql(stars, criterion):
    told, better = SLIPS[criterion]
    assert told in " ".join(stars.fails(f'select stars "{criterion}"').split())
    stars(f'select stars "{better}"')


FILES = {
    "semicolons.csv": (b"hip;vmag;plx\n1;2,5;3\n2;3,5;4\n", "--option 'sep=;'"),
    "one.csv": (b"hip;plx\n1;3\n", "--option 'sep=;'"),
    "bars.csv": (b"hip|plx\n1|3\n", "--option 'sep=|'"),
    "latin.csv": ("hip,name\n1,Andromède\n".encode("latin-1"), "--option encoding=ISO-8859-1"),
    "comment.csv": (b"# mine\nhip,plx\n1,3\n", "--option 'comment=#'"),
}
"""Text files that are not as expected, each with the options that the answer names."""


@pytest.mark.parametrize("name", FILES)
def test_a_file_in_another_form_is_answered_with_the_options_that_read_it(empty, tmp_path, name):
    content, options = FILES[name]
    file = tmp_path / name
    file.write_bytes(content)
    typed = f"ingest stars '{file}' --key hip --population star"
    assert options in " ".join(empty.fails(typed).split())
    empty(f"{typed} {options}")
    assert "hip" in empty("show stars")


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("table.xlsx", b"PK", "pandas.read_excel(…).to_parquet(…)"),
        ("table.h5", b"\x89HDF", "pandas.read_hdf(…).to_parquet(…)"),
        ("table.zip", b"PK", "unpack it first"),
        ("parquet.csv", b"PAR1\0\0,\n,,PAR1", "add --format parquet"),
        ("utf16.csv", "hip,plx\n1,3\n".encode("utf-16"), "convert it to UTF-8 first"),
        ("empty.csv", b"", "it is empty"),
    ],
)
def test_a_file_that_is_no_table_of_text_is_called_so(empty, tmp_path, name, content, told):
    file = tmp_path / name
    file.write_bytes(content)
    assert told in empty.fails(f"ingest stars '{file}' --key hip --population star")


def test_a_place_without_files_is_answered_with_what_to_name(empty, tmp_path):
    (tmp_path / "stars.csv").write_text("hip\n1\n")
    (tmp_path / "nothing").mkdir()
    assert "did you mean stars.csv?" in empty.fails(f"ingest x '{tmp_path}/stars' --key hip -p star")
    assert "name a folder with files" in empty.fails(f"ingest x '{tmp_path}/nothing' --key hip -p star")
    assert "download it first" in empty.fails("ingest x https://host/stars.csv --key hip -p star")
    assert "Write -- before arguments that begin with -" in empty.fails("select stars '-plx < 0'")


def test_the_how_to_lists_the_ten_errors():
    page = (Path(__file__).parents[2] / "docs/how-to/answer-common-errors.md").read_text()
    for typed, (told, _) in TEN_ERRORS.items():
        assert typed.replace("MORE", "more.parquet") in page
        assert told in " ".join(page.split())
