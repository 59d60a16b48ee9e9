//! Steps that run beside the others.

use std::{
    env,
    io::{self, BufRead, BufReader},
    process::Child,
    sync::mpsc,
    thread,
};

use anyhow::Result;

use super::{
    Args, STEPS,
    tally::{Tally, our_counts},
};
use crate::shell::{command, say, which};

/// The steps that run aside, in a process of its own, with a lower priority.
pub(super) struct Aside {
    process: Child,
    lines: mpsc::Receiver<String>,
}

impl Aside {
    pub(super) fn start(args: &Args) -> Result<Aside> {
        // A step of minutes that is named runs whole: none of them may be aside.
        let names: Vec<&str> = STEPS.iter().filter(|step| step.aside).map(|step| step.name).collect();
        say(format!("Aside, told at the end: {}", names.join(", ")));
        let xtask = env::current_exe()?;
        let mut aside = match which(["nice"]) {
            Some(nice) => {
                let mut nice = command(nice);
                nice.args(["-n", "10"]).arg(xtask);
                nice
            }
            None => command(xtask),
        };
        aside.args(["test", "--only", &names.join(",")]);
        if let Some(filter) = &args.filter {
            aside.args(["--filter", filter]);
        }
        let (output, end) = io::pipe()?;
        let process = aside.stdout(end.try_clone()?).stderr(end).spawn()?;
        let (send, lines) = mpsc::channel();
        // Nobody is to wait for us to read.
        thread::spawn(move || {
            let lines = BufReader::new(output).split(b'\n').map_while(Result::ok);
            lines.map(|line| String::from_utf8_lossy(&line).into_owned()).try_for_each(|line| send.send(line))
        });
        Ok(Aside { process, lines })
    }

    /// Passes on what was said, and waits for the rest.
    pub(super) fn end(mut self) -> Result<Tally> {
        let mut tally = Tally::default();
        for line in self.lines {
            println!("{line}");
            tally = tally.and(our_counts(&line));
        }
        Ok(tally.unless_broken(self.process.wait()?.success()))
    }
}
