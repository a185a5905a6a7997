//! Files need not fit in memory: peak memory does not grow with their length.

use std::fs::{self, File};
use std::process::{Child, Stdio};
use std::sync::Arc;

use crate::common::TestDir;
use arrow_array::{ArrayRef, RecordBatch};
use hearith_columns::parquet::{ParquetReader, ParquetWriter};

/// Rows of the long file, and bytes per ciphertext.
const ROWS: usize = 2_000_000;
const CIPHERTEXT: usize = 128;
/// Maximum memory for summing it, in KiB: less than half of the ciphertexts.
const BOUND: u64 = 110 << 10;

/// Writes a Parquet file that repeats the rows of `rows.parquet`.
fn repeat(dir: &TestDir, rows: usize) {
    let source = ParquetReader::open(File::open(dir.file("rows.parquet")).unwrap()).unwrap();
    let batch = source.batches(10_000, None).unwrap().next().unwrap().unwrap();
    let mut sink = ParquetWriter::new(File::create(dir.file("long.parquet")).unwrap(), batch.schema()).unwrap();
    for _ in 0..rows / batch.num_rows() {
        sink.write(&batch).unwrap();
    }
    sink.finish().unwrap();
}

/// Returns the peak memory of a program in KiB, observed until it ends.
fn peak(mut child: Child) -> u64 {
    let status = format!("/proc/{}/status", child.id());
    let mut peak = 0;
    while child.try_wait().unwrap().is_none() {
        let text = fs::read_to_string(&status).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let held = line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok());
        peak = peak.max(held.unwrap_or(0));
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    assert!(child.wait().unwrap().success());
    assert!(peak > 0, "this test reads /proc");
    peak
}

#[test]
fn two_million_rows_are_added_up_in_little_memory() {
    let dir = TestDir::new();
    let rows: String = (0..10_000).map(|row| format!("{},{row}\n", row % 7)).collect();
    dir.write("in.csv", format!("group,x\n{rows}"));
    dir.ok("encrypt --key keys/private.json --column x in.csv --out rows.parquet");
    repeat(&dir, ROWS);
    let length = fs::metadata(dir.file("long.parquet")).unwrap().len();
    assert!(length > (ROWS * CIPHERTEXT) as u64 && length > 2 * 1024 * BOUND, "{length}");
    let line = "sum --quiet --key keys/public.json --by group long.parquet --out totals.parquet";
    let child = dir.command(line.split_whitespace()).stderr(Stdio::null()).spawn().unwrap();
    let peak = peak(child);
    assert!(peak < BOUND, "{peak} KiB");
    let totals = dir.ok("decrypt --key keys/private.json totals.parquet").text();
    for (group, line) in totals.lines().skip(1).enumerate() {
        let members = (0..10_000).filter(|row| row % 7 == group);
        let (count, sum): (usize, usize) = members.fold((0, 0), |(count, sum), row| (count + 1, sum + row));
        let times = ROWS / 10_000;
        assert_eq!(line, format!("{group},{},{}", count * times, sum * times));
    }
}

#[test]
fn row_groups_are_bounded_in_bytes() {
    let dir = TestDir::new();
    // Incompressible text.
    let mut word = 1_u64;
    let mut noise = || {
        word = word.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        char::from(33 + (word >> 33) as u8 % 90)
    };
    let cells: Vec<String> = (0..20_000).map(|_| (0..4000).map(|_| noise()).collect()).collect();
    let text: ArrayRef = Arc::new(arrow_array::StringArray::from(cells));
    let batch = RecordBatch::try_from_iter([("text", text)]).unwrap();
    let mut sink = ParquetWriter::new(File::create(dir.file("wide.parquet")).unwrap(), batch.schema()).unwrap();
    for start in (0..batch.num_rows()).step_by(1000) {
        sink.write(&batch.slice(start, 1000)).unwrap();
    }
    sink.finish().unwrap();
    let source = ParquetReader::open(File::open(dir.file("wide.parquet")).unwrap()).unwrap();
    assert!(source.row_groups() > 1, "80 MB of text in {} row group", source.row_groups());
    assert_eq!(source.rows(), 20_000);
}
