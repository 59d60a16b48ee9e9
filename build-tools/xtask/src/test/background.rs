//! Steps that run in the background, while the remaining steps run.

use std::{
    env,
    io::{self, BufRead, BufReader},
    process::Child,
    sync::mpsc,
    thread,
};

use anyhow::Result;

use super::{Args, STEPS};
use crate::{
    shell::{command, say, which},
    tally::{Tally, our_counts},
};

/// A process with a lower priority that runs the background steps.
pub(super) struct Background {
    process: Child,
    lines: mpsc::Receiver<String>,
}

impl Background {
    pub(super) fn start(args: &Args) -> Result<Background> {
        let names: Vec<&str> = STEPS
            .iter()
            .filter(|step| step.background)
            .map(|step| step.name)
            .collect();
        say(format!(
            "In the background, printed at the end: {}",
            names.join(", ")
        ));
        let xtask = env::current_exe()?;
        let mut command = match which(["nice"]) {
            Some(nice) => {
                let mut nice = command(nice);
                nice.args(["-n", "10"]).arg(xtask);
                nice
            }
            None => command(xtask),
        };
        command.args(["test", "--only", &names.join(",")]);
        if let Some(filter) = &args.filter {
            command.args(["--filter", filter]);
        }
        let (output, end) = io::pipe()?;
        let process = command.stdout(end.try_clone()?).stderr(end).spawn()?;
        let (send, lines) = mpsc::channel();
        // Reads at once, so that a full pipe never stops the process.
        thread::spawn(move || {
            let lines = BufReader::new(output).split(b'\n').map_while(Result::ok);
            lines
                .map(|line| String::from_utf8_lossy(&line).into_owned())
                .try_for_each(|line| send.send(line))
        });
        Ok(Background { process, lines })
    }

    /// Prints the output of the steps and waits for their end. The sum of their tests becomes a part of the sum of all steps.
    pub(super) fn end(mut self) -> Result<Tally> {
        let mut tally = Tally::default();
        for line in self.lines {
            match our_counts(&line) {
                Some(counts) => tally += counts,
                None => println!("{line}"),
            }
        }
        Ok(tally.unless_broken(self.process.wait()?.success()))
    }
}
