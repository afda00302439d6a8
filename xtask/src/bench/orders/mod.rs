//! `cargo xtask bench --orders`: flows of orders through a machine in this process's memory, and through exchange-core, in turn
//! and from the same file. Both must end with the same book: prices, quantities and numbers of orders.

mod report;

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{Ended, place, process, screen};

/// The driver of exchange-core.
const DRIVER: &str = include_str!("OrderFlow.java");
const PROJECT: &str = include_str!("pom.xml");
/// What the libraries of exchange-core need of a Java that is newer than they are.
const OPENED: [&str; 9] = [
    "--add-opens=java.base/java.lang=ALL-UNNAMED",
    "--add-opens=java.base/java.lang.reflect=ALL-UNNAMED",
    "--add-opens=java.base/java.io=ALL-UNNAMED",
    "--add-opens=java.base/java.nio=ALL-UNNAMED",
    "--add-opens=java.base/java.util=ALL-UNNAMED",
    "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED",
    "--add-exports=java.base/jdk.internal.misc=ALL-UNNAMED",
    "--add-exports=java.base/jdk.internal.ref=ALL-UNNAMED",
    "--add-exports=jdk.unsupported/sun.misc=ALL-UNNAMED",
];
/// The seed of all flows.
const SEED: u64 = 1;

/// Who takes the flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum On {
    /// A machine; mode of the example `order_flow`.
    Scarce(&'static str),
    /// exchange-core; mode of the driver.
    ExchangeCore(&'static str),
}

/// A line of the comparison.
#[derive(Clone, Copy, Debug)]
struct Case {
    flow: &'static str,
    on: On,
    path: &'static str,
}

const ANONYMOUS: &str = "rules, events, log encoded, receipt; no ids, no disk";
const IDS: &str = "the same, and each id remembered with its answer";
const PIPELINE: &str = "risk, matching, events, between threads; no journal";
const MATCHING: &str = "matching alone, in one thread";

/// All lines, in the order in which a round measures them; the pipeline of a flow is what its others are compared with.
const CASES: &[Case] = &[
    Case { flow: "P1", on: On::Scarce("anonymous"), path: ANONYMOUS },
    Case { flow: "P1", on: On::ExchangeCore("pipeline"), path: PIPELINE },
    Case { flow: "P1", on: On::Scarce("ids"), path: IDS },
    Case { flow: "P1", on: On::ExchangeCore("matching"), path: MATCHING },
    Case { flow: "P2", on: On::Scarce("anonymous"), path: ANONYMOUS },
    Case { flow: "P2", on: On::ExchangeCore("pipeline"), path: PIPELINE },
    Case { flow: "P2", on: On::Scarce("ids"), path: IDS },
    Case { flow: "P2", on: On::ExchangeCore("matching"), path: MATCHING },
    Case { flow: "P3", on: On::Scarce("anonymous"), path: ANONYMOUS },
    Case { flow: "P3", on: On::Scarce("ids"), path: IDS },
];

/// What is there to run.
struct Runner {
    folder: PathBuf,
    classes: String,
}

/// Makes the flows, plays them in turn, and prints a table.
pub fn run(rounds: u32, commands: u64, write: bool) -> Ended {
    let runner = Runner::prepare(commands)?;
    let mut measured: Vec<Vec<f64>> = CASES.iter().map(|_| Vec::new()).collect();
    for round in 1..=rounds {
        for (case, results) in CASES.iter().zip(&mut measured) {
            let per_second = runner.measure(case)?;
            screen::say(&format!(
                "round {round}/{rounds}: {:<40} {per_second:>10.0} per second",
                case.shown()
            ));
            results.push(per_second);
        }
    }
    let lines = report::lines(CASES, &measured);
    screen::say(&format!("\n{}", report::screen(&lines)));
    if write {
        let path = place::root().join("docs").join("benchmarks-orders.md");
        fs::write(&path, report::page(&lines, rounds, commands)?)?;
        screen::say(&format!("\nwrote {}", path.display()));
    }
    Ok(true)
}

impl Case {
    fn shown(&self) -> String {
        let on = match self.on {
            On::Scarce("ids") => "Scarce, with ids",
            On::Scarce(_) => "Scarce, without ids",
            On::ExchangeCore("pipeline") => "exchange-core, whole pipeline",
            On::ExchangeCore(_) => "exchange-core, matching",
        };
        format!("{} on {on}", self.flow)
    }
}

impl Runner {
    fn prepare(commands: u64) -> Result<Self, Box<dyn Error>> {
        for (program, package) in
            [("java", "default-jdk-headless"), ("javac", "default-jdk-headless"), ("mvn", "maven")]
        {
            if !place::has_program(program) {
                return Err(format!("{program} is not installed; run: apt-get install {package}").into());
            }
        }
        let mut build = Command::new("cargo");
        build.args(["build", "--release", "--package", "scarce-core", "--example", "order_flow"]);
        process::must(build.current_dir(place::root()))?;
        let folder = place::work("orders")?;
        let classes = compile(&folder)?;
        let runner = Self { folder, classes };
        for flow in ["P1", "P2", "P3"] {
            let mut make = Command::new(program());
            make.args(["make", flow, &commands.to_string(), &SEED.to_string()]).arg(runner.flow(flow));
            process::must(&mut make)?;
        }
        Ok(runner)
    }

    fn flow(&self, flow: &str) -> PathBuf {
        self.folder.join(format!("{flow}.txt"))
    }

    /// Plays a flow, compares the book with the one before, and returns how many commands a second were taken.
    fn measure(&self, case: &Case) -> Result<f64, Box<dyn Error>> {
        let mut command = match case.on {
            On::Scarce(mode) => {
                let mut command = Command::new(program());
                command.args(["play", mode]);
                command
            }
            On::ExchangeCore(mode) => {
                let mut command = Command::new("java");
                command.args(OPENED).args(["-cp", &self.classes, "OrderFlow", mode]);
                command
            }
        };
        let (found, kept) = (self.folder.join("book"), self.folder.join(format!("{}.book", case.flow)));
        let output = process::must(command.arg(self.flow(case.flow)).arg(&found))?;
        let book = fs::read_to_string(&found)?;
        // The first of each round lays the book down.
        if case.on == On::Scarce("anonymous") {
            fs::write(&kept, &book)?;
        } else if fs::read_to_string(&kept)? != book {
            let (found, kept) = (found.display(), kept.display());
            return Err(format!(
                "{} ended with another book than Scarce did; compare {found} with {kept}",
                case.shown()
            )
            .into());
        }
        report::per_second(&output)
    }
}

/// The example that makes flows and plays them.
fn program() -> PathBuf {
    place::target().join("release").join("examples").join("order_flow")
}

/// Gets exchange-core from Maven, compiles the driver, and returns where their classes are.
fn compile(folder: &Path) -> Result<String, Box<dyn Error>> {
    let (project, driver, path) =
        (folder.join("pom.xml"), folder.join("OrderFlow.java"), folder.join("classpath"));
    fs::write(&project, PROJECT)?;
    fs::write(&driver, DRIVER)?;
    let mut maven = Command::new("mvn");
    maven.args(["--quiet", "--batch-mode", "dependency:build-classpath", "--file"]).arg(project);
    process::must(maven.arg(format!("-Dmdep.outputFile={}", path.display())))?;
    let libraries = fs::read_to_string(path)?;
    let mut compiler = Command::new("javac");
    compiler.args(["-nowarn", "-cp", &libraries, "-d"]).arg(folder).arg(driver);
    process::must(&mut compiler)?;
    Ok(format!("{}:{libraries}", folder.display()))
}
