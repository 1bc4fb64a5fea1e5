//! Two programs side by side, each in a sandbox of its own, joined by two pipes: the judge, which holds the
//! tests, and the worker, which holds the code under test.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::Duration;

use super::record::judged;
use crate::sandbox::{Ended, Job, Run, Sandbox};
use crate::trial::error::TrialError;
use crate::trial::evidence::{Evidence, Report, Said};

/// How long the worker may take to end after the judge did. It ends by itself when the line closes, unless
/// its code hinders it.
const PATIENCE: Duration = Duration::from_millis(300);

/// Runs both at once and joins them: what they left behind, or why these tests need the code in their own
/// process. The end of the judge is the end of both; a wish to cancel goes to the judge.
pub fn run(
    sandbox: &Sandbox,
    judge: Job,
    worker: Job,
    nonce: &str,
    cancel: &AtomicBool,
) -> Result<Result<Evidence, String>, TrialError> {
    let (run, worker) = side_by_side(sandbox, judge, worker, cancel).map_err(TrialError::Sandbox)?;
    let report = judged(&run.record, nonce);
    Ok(match report {
        Report::Judge(record) if record.status == Said::Shared && run.ended == Ended::Exited(0) => Err(record.message),
        report => Ok(Evidence { worker: Some(worker), ..Evidence::of(run, report) }),
    })
}

/// Both at once. A worker that outlives the judge is cancelled.
pub fn side_by_side(
    sandbox: &Sandbox,
    mut judge: Job,
    mut worker: Job,
    cancel: &AtomicBool,
) -> Result<(Run, Run), String> {
    let failed = |error: std::io::Error| format!("a pipe could not be made: {error}");
    let (worker_reads, judge_writes) = std::io::pipe().map_err(failed)?;
    let (judge_reads, worker_writes) = std::io::pipe().map_err(failed)?;
    judge.inherited = vec![judge_reads.into(), judge_writes.into()];
    worker.inherited = vec![worker_reads.into(), worker_writes.into()];
    worker.waited = judge.waited.clone();
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let (tell, told) = mpsc::channel();
        let is_over = &is_over;
        std::thread::Builder::new()
            .name("worker of a trial".to_owned())
            .spawn_scoped(scope, move || {
                // Nobody listens any more only when the judge could not be started.
                let _ = tell.send(sandbox.run(worker, is_over));
            })
            .map_err(|error| format!("a thread could not be started: {error}"))?;
        let judged = sandbox.run(judge, cancel);
        let patience = match &judged {
            Ok(run) if matches!(run.ended, Ended::Exited(_)) => PATIENCE,
            _ => Duration::ZERO,
        };
        let early = told.recv_timeout(patience).ok();
        is_over.store(true, Ordering::Relaxed);
        let worked = early.map_or_else(|| told.recv().map_err(|_| "the worker's thread ended".to_owned()), Ok)??;
        Ok((judged?, worked))
    })
}
