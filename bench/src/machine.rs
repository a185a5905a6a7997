//! The machine of a measurement.

use hearith_paillier::Engine;
use serde::Serialize;
use std::process::Command;

/// The machine and the day.
#[derive(Serialize)]
pub struct Machine {
    /// The CPU's own name.
    pub cpu: String,
    /// Hardware threads that the process may use.
    pub threads: usize,
    /// The operating system and the CPU architecture.
    pub system: String,
    /// The compiler.
    pub rustc: String,
    /// The engines that this machine supports.
    pub engines: Vec<&'static str>,
    /// The day, in UTC.
    pub date: String,
}

impl Machine {
    /// This machine, today.
    pub fn here() -> Self {
        let engines = engines().into_iter().map(Engine::name).collect();
        Machine {
            cpu: cpu().unwrap_or_else(|| "unknown".into()),
            threads: std::thread::available_parallelism().map_or(1, |threads| threads.get()),
            system: said_by("uname", &["-sm"]),
            rustc: said_by("rustc", &["--version"]),
            engines,
            date: said_by("date", &["-u", "+%Y-%m-%d"]),
        }
    }

    /// Formats it as a Markdown list.
    pub fn to_markdown(&self) -> String {
        format!(
            "- Machine: {}, {} hardware threads, {}\n- Compiler: {}\n- Engines: {}\n- Date: {}\n",
            self.cpu,
            self.threads,
            self.system,
            self.rustc,
            self.engines.join(", "),
            self.date
        )
    }
}

/// The engines that this machine supports.
pub fn engines() -> Vec<Engine> {
    Engine::ALL.iter().copied().filter(|engine| engine.is_available()).collect()
}

/// Model name, family and model, which distinguish CPUs that share one name on virtual machines.
fn cpu() -> Option<String> {
    let text = std::fs::read_to_string("/proc/cpuinfo").ok()?;
    let field = |name: &str| {
        let line = text.lines().find(|line| line.split(':').next().is_some_and(|key| key.trim() == name))?;
        Some(line.split(':').nth(1)?.trim().to_owned())
    };
    Some(format!("{} (family {}, model {})", field("model name")?, field("cpu family")?, field("model")?))
}

/// The first line of a command's output; "unknown" if there is none.
fn said_by(command: &str, arguments: &[&str]) -> String {
    let output = Command::new(command).args(arguments).output().ok();
    let text = output.and_then(|output| String::from_utf8(output.stdout).ok()).unwrap_or_default();
    text.lines().next().unwrap_or("unknown").to_owned()
}
