//! What is written while it is compared is no difference, wherever the comparison is then.

use std::time::Duration;

use scarce_core::machine::Machine;
use scarce_reconcile::{
    CheckKind, FilesLog, LogSource, Options, ReconcileError, Served, Sources, Take, reconcile,
};
use scarce_testkit::DatabaseKind;

use crate::kit::{Bench, LINES, PARTITIONS, compare, database, of, runtime};

/// Tables that are behind at first are waited for.
#[test]
fn tables_that_catch_up_in_time_are_compared_to_the_end() {
    let (runtime, bench) = (runtime(), Bench::embedded());
    LINES.iter().for_each(|line| bench.send(line));
    let database = database(&runtime, DatabaseKind::Sqlite);
    let projection = bench.project(&runtime, &database);
    (0..3).for_each(|_| bench.send("ACCOUNT.CREDIT {a}u1 1"));
    let mut log = Served::new(bench.engine.clone());
    let sources = Sources {
        log: &mut log,
        engine: None,
        tables: Some(&projection),
        settlements: None,
        copy: None,
        mirror: None,
        mending: None,
    };
    let options = Options { limit: 20, wait: Duration::from_mins(5) };
    let mut waited = 0;
    let report = reconcile(runtime.handle(), sources, options, &mut |progress| {
        if progress.doing == "waiting for tables" {
            waited += 1;
            if waited == 2 {
                (0..PARTITIONS).for_each(|partition| bench.project_on(&runtime, &projection, partition));
            }
        }
        true
    });
    let report = report.expect("a report");
    assert_eq!((report.differences(), waited), (0, 2), "{report:#?}");
    assert!(report.reaches.iter().all(|its| Some(its.log) == its.tables), "{report:#?}");
}

/// Nothing in the files proves the last frame until the next one is written; the server knows that it is durable.
#[test]
fn files_of_a_server_are_read_as_far_as_it_says_that_they_are_durable() {
    let (runtime, bench) = (runtime(), Bench::embedded());
    LINES.iter().for_each(|line| bench.send(line));
    let database = database(&runtime, DatabaseKind::Sqlite);
    let projection = bench.project(&runtime, &database);
    for round in 0..10 {
        bench.send("ACCOUNT.CREDIT {a}u1 1");
        (0..PARTITIONS).for_each(|partition| bench.project_on(&runtime, &projection, partition));
        let engine = bench.engine.clone();
        let ends = move |partition| Ok(Some(engine.durable_through(partition)?));
        let files = FilesLog::open(bench.folder.path(), true).expect("files");
        let mut log = files.with_ends(Box::new(ends));
        let report = compare(&runtime, &mut log, Some(&bench), Some(&projection));
        assert_eq!(report.differences(), 0, "round {round}: {report:#?}");
    }
}

/// The log of a bench, which goes on when its first partition has been read.
struct GoesOn<'b> {
    bench: &'b Bench,
    served: Served,
    lines: Vec<(&'static str, String)>,
}

impl LogSource for GoesOn<'_> {
    fn partitions(&self) -> u32 {
        PARTITIONS
    }

    fn deployment_id(&self) -> &str {
        self.bench.engine.deployment_id()
    }

    fn base(&mut self, partition: u32) -> Result<Machine, ReconcileError> {
        self.served.base(partition)
    }

    fn read(&mut self, partition: u32, from: u64, take: Take<'_>) -> Result<(), ReconcileError> {
        self.served.read(partition, from, take)?;
        for (namespace, line) in self.lines.drain(..) {
            self.bench.send_in(namespace, &line);
        }
        Ok(())
    }

    fn end(&mut self, partition: u32) -> Result<Option<u64>, ReconcileError> {
        self.served.end(partition)
    }
}

/// Its claim is behind what was read of the first partition, and its credit within what is read of the second.
#[test]
fn a_packet_that_is_claimed_and_credited_meanwhile_is_no_difference() {
    let (runtime, bench) = (runtime(), Bench::embedded());
    let campaign = bench.id_on("PACKET.CREATE {} EUR AMOUNTS 2 30 20", 0);
    let account = bench.id_on("ACCOUNT.OPEN {} EUR", 1);
    let claim = |user: &str| ("", format!("PACKET.CLAIM {campaign} {user}"));
    let credit = |packet, amount| {
        ("settlement", format!("ACCOUNT.CREDIT {account} {amount} ID settle:{campaign}:{packet}"))
    };
    for (namespace, line) in [claim("u1"), credit(1, 30)] {
        bench.send_in(namespace, &line);
    }
    let lines = vec![claim("u2"), credit(2, 20)];
    let mut log = GoesOn { bench: &bench, served: Served::new(bench.engine.clone()), lines };
    let report = compare(&runtime, &mut log, Some(&bench), None);
    assert_eq!(report.differences(), 0, "{report:#?}");
    // A credit without a claim that was there before is one.
    bench.send_in("settlement", &format!("ACCOUNT.CREDIT {account} 20 ID settle:{campaign}:7"));
    let report = compare(&runtime, &mut Served::new(bench.engine.clone()), Some(&bench), None);
    assert_eq!(of(&report, CheckKind::Settlement).len(), 1, "{report:#?}");
}
