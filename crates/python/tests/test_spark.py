"""Spark with three executors on this machine, one of which dies during a job."""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from required import missing

import hearith as he
from hearith.errors import InvalidKeyError, KeyMismatchError, TableError

if not os.environ.get("HEARITH_TEST_SPARK"):
    missing("spark", "Spark's cluster takes minutes: `make test-full` runs these tests")

from pyspark import TaskContext
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

import hearith.spark as hs
from hearith import _spark_tasks

pytestmark = pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas")

EXECUTORS = 3
PARTITIONS = 4
ROWS = 900


def added(df, *columns, **options):
    """Calls `hearith.spark.sum_columns` with the small keys in the columns' metadata."""
    return hs.sum_columns(df, *columns, insecure=True, **options)


@pytest.fixture(scope="module")
def spark():
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["PYTHONPATH"] = os.pathsep.join([str(Path(he.__file__).parents[1]), *sys.path])
    builder = SparkSession.builder.master(f"local-cluster[{EXECUTORS},1,512]").appName("hearith")
    settings = {
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.executor.memory": "512m",
        "spark.sql.shuffle.partitions": 4,
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()


@pytest.fixture(scope="module")
def plain(spark):
    depts = ["lab", None, "shop", "yard"]
    rows = [(depts[i % 4], i % 2, None if i % 9 == 4 else 37 * i - 500, i * 10) for i in range(ROWS)]
    text = spark.createDataFrame(rows, "dept string, site int, salary bigint, cents bigint")
    bonus = (F.col("cents") / 100).cast("decimal(10,2)")
    return text.select("dept", "site", "salary", bonus.alias("bonus")).repartition(PARTITIONS).cache()


@pytest.fixture(scope="module")
def encrypted(plain, keys):
    return hs.encrypt_columns(plain, keys[0], {"salary": {}, "bonus": {"scale": 2}}).cache()


def totals_of(plain, by):
    """Returns Spark's own plaintext sums, null groups first."""
    sums = [F.count("*"), F.sum("salary"), F.sum("bonus")]
    rows = plain.groupBy(*by).agg(*sums).collect()
    return sorted((tuple(row) for row in rows), key=repr)


def rows_of(df):
    return sorted((tuple(row) for row in df.collect()), key=repr)


def parent(process):
    """Returns the parent process id."""
    return int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])


def executor_of(worker):
    """Returns the process id of the executor of a Python worker, which is the worker's
    grandparent.
    """
    return parent(parent(worker))


def executor():
    """Returns the process id of this worker's executor."""
    return executor_of(os.getpid())


def deadly(df, mark, partition):
    """Returns the same rows, but kills the executor when it first computes one partition."""

    def task(batches):
        for batch in batches:
            yield batch
            if TaskContext.get().partitionId() == partition and not mark.exists():
                mark.write_text(str(executor()))
                os.kill(executor(), signal.SIGKILL)

    return _spark_tasks.mapped(df, task, df.schema)


def is_gone(process):
    stat = Path(f"/proc/{process}/stat")
    return not stat.exists() or stat.read_text().rpartition(")")[2].split()[0] == "Z"


@pytest.mark.parametrize("by", [[], ["dept"], ["site", "dept"]], ids=["all", "dept", "both"])
def test_the_same_totals_as_spark(plain, encrypted, keys, by):
    assert rows_of(hs.decrypt_columns(added(encrypted, by=by), keys[1])) == totals_of(plain, by)


def test_packed_columns(plain, keys):
    packed = hs.encrypt_columns(plain, keys[0], {"salary": {}, "bonus": {"scale": 2}}, pack=True)
    assert len(packed.columns) == 5
    assert rows_of(hs.decrypt_columns(added(packed, by="dept"), keys[1])) == totals_of(plain, ["dept"])
    other = added(packed, by="dept", rerandomise=True)
    assert rows_of(hs.decrypt_columns(other, keys[1])) == totals_of(plain, ["dept"])
    assert hs.decrypt_columns(added(packed, by="dept", min_rows=10**6), keys[1]).count() == 0


def test_several_executors_take_part(spark, encrypted):
    workers = _spark_tasks.mapped(
        encrypted, lambda batches: (pa.RecordBatch.from_pydict({"e": [executor()]}) for _ in batches), "e bigint"
    )
    assert len({row.e for row in workers.collect()}) > 1


@pytest.mark.parametrize("when", ["while parts are added", "after the shuffle"])
def test_an_executor_dies(plain, encrypted, keys, tmp_path, when):
    mark = tmp_path / "killed"
    if when == "after the shuffle":
        totals = deadly(added(encrypted, by=["dept", "site"]), mark, 0)
    else:
        totals = added(deadly(encrypted, mark, 2), by=["dept", "site"])
    found = rows_of(hs.decrypt_columns(totals, keys[1]))
    assert is_gone(int(mark.read_text()))
    assert found == totals_of(plain, ["dept", "site"])


def test_descriptions_survive(spark, plain, encrypted, keys, tmp_path):
    columns = [name for name in encrypted.columns if "hearith.scheme" in encrypted.schema[name].metadata]
    kept = encrypted.filter("site = 1").join(spark.createDataFrame([("lab",)], "dept string"), "dept")
    assert [kept.schema[name].metadata for name in columns] == [encrypted.schema[name].metadata for name in columns]
    expected = totals_of(plain.filter("site = 1 AND dept = 'lab'"), [])
    assert rows_of(hs.decrypt_columns(added(kept), keys[1])) == expected
    # Spark's own Parquet files keep them as well.
    encrypted.write.parquet(str(tmp_path / "spark"))
    again = spark.read.parquet(str(tmp_path / "spark"))
    assert rows_of(hs.decrypt_columns(added(again, by="dept"), keys[1])) == totals_of(plain, ["dept"])


def test_parquet_in_and_out(spark, plain, encrypted, keys, tmp_path):
    public, private = keys
    folder = tmp_path / "tables"
    hs.write_parquet(encrypted, str(folder))
    files = sorted(folder.glob("part-*.parquet"))
    assert len(files) == PARTITIONS
    assert (folder / "_SUCCESS").exists()
    with pytest.raises(he.HearithError, match="exists"):
        hs.write_parquet(encrypted, str(folder))
    # Read by the kernel without Spark, and by Spark again.
    tables = [pq.read_table(file) for file in files]
    kernel = private.decrypt_columns(public.sum_columns(tables, by=["dept"]))
    with pytest.raises(TableError, match="counted twice"):
        public.sum_columns([*tables, tables[1]], by=["dept"])
    with pytest.raises(TableError, match="counted twice"):
        public.sum_columns([hs.to_arrow(encrypted), *tables], by=["dept"])
    hs.write_parquet(added(encrypted, by=["dept", "site"]), str(tmp_path / "totals"))
    (totals,) = (tmp_path / "totals").glob("part-*.parquet")
    assert private.decrypt_columns(public.sum_columns(pq.read_table(totals), by=["dept"])).equals(kernel)
    with pytest.raises(TableError, match="counted twice"):
        public.sum_columns([pq.read_table(totals), hs.to_arrow(encrypted)], by=["dept"])
    spread = hs.read_parquet(spark, str(folder), public)
    found = rows_of(hs.decrypt_columns(added(spread, by="dept"), private))
    assert found == sorted((tuple(row.values()) for row in kernel.to_pylist()), key=repr) == totals_of(plain, ["dept"])
    # Without a key in the metadata, the caller must pass one.
    keyless = hs.read_parquet(spark, str(folder))
    with pytest.raises(TableError, match="public="):
        added(keyless, by="dept")
    assert rows_of(hs.decrypt_columns(added(keyless, by="dept", public=public), private)) == found


def test_totals_of_totals_and_chosen_columns(plain, encrypted, keys):
    _, private = keys
    once = added(encrypted, by=["dept", "site"])
    assert rows_of(hs.decrypt_columns(added(once, by="site"), private)) == totals_of(plain, ["site"])
    chosen = added(encrypted, "salary", by=["dept"])
    assert chosen.columns == ["dept", "rows", "salary", "salary.additions", "salary.values"]


def test_decrypting_on_workers_only_when_told(plain, encrypted, keys):
    decrypted = hs.decrypt_columns(encrypted, keys[1], on_workers=True)
    assert rows_of(decrypted.select(plain.columns)) == rows_of(plain)


def test_subgroup_keys(spark, plain):
    public, private = he.generate_keypair(1024, "subgroup", insecure=True)
    some = plain.filter("cents < 600").cache()
    df = hs.encrypt_columns(some, public, {"salary": {}}).cache()
    expected = sorted([(row.cents, row.salary) for row in some.collect()])
    for on_workers in (False, True):
        found = hs.decrypt_columns(df, private, on_workers=on_workers).collect()
        assert sorted([(row.cents, row.salary) for row in found]) == expected
    # A row with a standard Paillier randomiser, foreign to this key. On the workers, only the key's
    # own setting counts.
    theirs = he.PublicKey(public.n, insecure=True).encrypt(7).to_bytes()
    foreign = df.filter("salary IS NOT NULL").withColumn("salary", F.lit(theirs))
    foreign = foreign.withMetadata("salary", df.schema["salary"].metadata)
    for on_workers in (False, True):
        with pytest.raises(Exception, match="subgroup key's randomisers"):
            hs.decrypt_columns(foreign, private, on_workers=on_workers).collect()
        found = hs.decrypt_columns(foreign, private.any_randomiser(), on_workers=on_workers).collect()
        assert {row.salary for row in found} == {7}
    total = hs.decrypt_columns(added(df), private).collect()[0].salary
    assert total == sum(number for _, number in expected if number is not None)


def test_nothing(encrypted, keys):
    nothing = encrypted.filter("site = 7")
    assert rows_of(hs.decrypt_columns(added(nothing, by="dept"), keys[1])) == []
    assert rows_of(hs.decrypt_columns(added(nothing), keys[1])) == [(0, None, None)]


def test_what_is_refused(spark, plain, encrypted, keys, other_keys):
    name = "salary"
    with pytest.raises(TypeError, match="public key"):
        hs.encrypt_columns(plain, keys[1], ["salary"])
    with pytest.raises(TableError, match="not described as an encrypted column"):
        added(encrypted, "dept")
    with pytest.raises(TableError, match="there is no such column"):
        added(encrypted, by="nothing")
    with pytest.raises(TableError):
        added(encrypted, by=name)
    with pytest.raises(KeyMismatchError):
        added(encrypted, by="dept", public=other_keys[0])
    with pytest.raises(KeyMismatchError):
        hs.decrypt_columns(added(encrypted, by="dept"), other_keys[1])
    with pytest.raises(TableError):
        hs.encrypt_columns(plain, keys[0], ["nothing"])
    damaged = encrypted.withColumn(name, F.when(F.col("site") == 1, F.col(name)).otherwise(F.lit(bytes(128))))
    damaged = damaged.withMetadata(name, encrypted.schema[name].metadata)
    with pytest.raises(Exception, match="ciphertext is 0"):
        added(damaged, by="dept").collect()


def test_keys_that_protect_nothing_are_asked_for(encrypted):
    with pytest.raises(InvalidKeyError, match="insecure"):
        hs.sum_columns(encrypted, by="dept")


def said(command, *words):
    """Returns the output of `hearith election`.

    An invalid record is not a failure of the command.
    """
    words = [command, "--insecure-key", "--quiet", "--json", "election", *map(str, words)]
    return subprocess.run(words, capture_output=True, text=True, check=False).stdout


@pytest.fixture(scope="module")
def command():
    if "HEARITH_COMMAND" not in os.environ:
        missing("command", "needs the built command line in HEARITH_COMMAND")
    return os.environ["HEARITH_COMMAND"]


@pytest.fixture(scope="module")
def record(tmp_path_factory, command):
    """The record of a finished election in three files.

    Some voters vote twice, and one ballot is challenged.
    """
    folder = tmp_path_factory.mktemp("election")
    office, credentials = folder / "office", folder / "credentials.jsonl"
    voters = [f"voter {number}" for number in range(1500)]
    rows = {"voters": [["voter"]], "first": [["voter", "Chair"]], "last": [["voter", "Chair"]]}
    rows["voters"] += [[voter] for voter in voters]
    rows["first"] += [[voter, "Ada"] for voter in voters[:700]]
    rows["last"] += [[voter, "Bo" if number % 3 else "Ada"] for number, voter in enumerate(voters)]
    for name, lines in rows.items():
        (folder / f"{name}.csv").write_text("".join(",".join(line) + "\n" for line in lines))
    contests = [{"title": "Chair", "candidates": ["Ada", "Bo"], "method": {"choose": {"exactly": 1}}}]
    (folder / "contests.json").write_text(json.dumps(contests))
    vote = ["vote", office, "--credential", credentials]
    for words in [
        ["init", "--title", "Spread", "--contests", folder / "contests.json", "--revoting", "--out", office],
        ["ceremony", office, "--bits", 512, "--out", folder / "holder"],
        ["register", office, folder / "voters.csv", "--out", credentials, "--open"],
        [*vote, "--voter", "voter 3", "--choose", "Chair=Ada", "--prepare", folder / "prepared.json"],
        ["challenge", office, folder / "prepared.json", "--credential", credentials],
        [*vote, "--ballots", folder / "first.csv"],
        [*vote, "--ballots", folder / "last.csv"],
        ["tally", office],
        ["finish", office, "--key", folder / "holder" / "private.json"],
    ]:
        subprocess.run([command, "--insecure-key", "--quiet", "election", *map(str, words)], check=True)
    return office / "record"


def waiting(spark):
    """Yields the workers of this session's executors that wait for a pipe to be written."""
    name = spark.sparkContext.applicationId.encode()
    for thread in Path("/proc").glob("[0-9]*/task/*/wchan"):
        # Processes come and go, and some are not readable.
        with contextlib.suppress(OSError):
            worker = int(thread.parts[2])
            if (
                thread.read_text() == "wait_for_partner"
                and name in Path(f"/proc/{executor_of(worker)}/cmdline").read_bytes()
            ):
                yield worker


class Killer(threading.Thread):
    """Makes the first reader of a file wait, and kills its executor.

    Later readers get the original content.
    """

    def __init__(self, spark, file):
        super().__init__()
        self.spark, self.file, self.contents = spark, file, file.with_suffix(".kept")
        self.killed, self.ended = None, threading.Event()
        file.rename(self.contents)
        os.mkfifo(file)

    def run(self):
        while self.killed is None and not self.ended.wait(0.01):
            for worker in waiting(self.spark):
                self.killed = executor_of(worker)
                os.kill(self.killed, signal.SIGKILL)
                os.kill(worker, signal.SIGKILL)
                break
        os.replace(self.contents, self.file)


def test_an_election_is_verified_as_by_the_command(spark, record, command):
    steps = []
    found = hs.verify(spark, str(record), insecure=True, progress=lambda done, of: steps.append((done, of)))
    assert found == json.loads(said(command, "verify", record))
    assert found["verified"]
    assert found["result"]["contests"] == [[500, 1000]]
    assert found["checks"]["ballots"]["checked"] == 2200
    assert steps[-1] == (6, 6)


def test_an_executor_dies_while_an_election_is_verified(spark, record, command, tmp_path):
    copy = tmp_path / "record"
    shutil.copytree(record, copy)
    killer = Killer(spark, copy / "board" / "00001000.jsonl")
    killer.start()
    try:
        found = hs.verify(spark, str(copy), insecure=True)
    finally:
        killer.ended.set()
        killer.join()
    assert killer.killed is not None
    assert is_gone(killer.killed)
    assert found == json.loads(said(command, "verify", copy))
    assert found["verified"]


def test_what_is_wrong_with_an_election_is_found(spark, record, command, tmp_path):
    spoilt = tmp_path / "record"
    shutil.copytree(record, spoilt)
    # Changes one digit of a proof in the second file: the chain breaks after it, and its content is
    # not signed.
    file = spoilt / "board" / "00001000.jsonl"
    lines = file.read_text().splitlines(keepends=True)
    at = lines[500].index('"proof":"') + 100
    lines[500] = lines[500][:at] + ("A" if lines[500][at] != "A" else "B") + lines[500][at + 1 :]
    file.write_text("".join(lines))
    found = hs.verify(spark, str(spoilt), insecure=True)
    assert not found["verified"]
    assert found == json.loads(said(command, "verify", spoilt))
    assert {name for name, check in found["checks"].items() if check["wrong"]} >= {"chain", "ballots", "signatures"}
    file.unlink()
    assert hs.verify(spark, str(spoilt), insecure=True) == json.loads(said(command, "verify", spoilt))
    with pytest.raises(he.HearithError, match="no record"):
        hs.verify(spark, str(tmp_path / "nothing"))


def test_unlike_frames_add_up(spark, keys, tmp_path):
    public, private = keys
    given = [
        ("g string, x string", [("a", "1.5"), ("b", "-2")], {"x": {"scale": 1}}, 100),
        ("g string, x string", [("b", "7"), ("c", "8")], {"x": {}}, 50),
        ("g string, x string", [("a", "0.025"), ("a", "10")], {"x": {"scale": 3, "range": 99}}, 1000),
    ]
    frames = [
        hs.encrypt_columns(spark.createDataFrame(rows, schema), public, columns, max_additions=most)
        for schema, rows, columns, most in given
    ]
    for order in ([0, 1, 2], [1, 2, 0]):
        together = hs.union(*(frames[place] for place in order), insecure=True)
        found = hs.decrypt_columns(added(together, by=["g"]), private).orderBy("g").collect()
        assert [(row.g, row.rows, str(row.x)) for row in found] == [
            ("a", 3, "11.525"),
            ("b", 2, "5.000"),
            ("c", 1, "8.000"),
        ]
    packed = hs.encrypt_columns(
        spark.createDataFrame([("a", 1, 2)], "g string, x int, y int"), public, ["x", "y"], pack=True
    )
    with pytest.raises(TableError, match="data frame 1 does not match data frame 0"):
        hs.union(frames[0], packed, insecure=True)
    # Different files in one folder must raise an error rather than give wrong numbers.
    for number, frame in enumerate(frames[:2]):
        pq.write_table(hs.to_arrow(frame), tmp_path / f"{number}.parquet")
    with pytest.raises(TableError, match="describes it differently"):
        hs.read_parquet(spark, str(tmp_path), public)
    parts = [hs.read_parquet(spark, str(tmp_path / f"{number}.parquet"), public) for number in range(2)]
    total = hs.decrypt_columns(added(hs.union(*parts, insecure=True)), private).collect()
    assert [(row.rows, str(row.x)) for row in total] == [(4, "14.5")]
