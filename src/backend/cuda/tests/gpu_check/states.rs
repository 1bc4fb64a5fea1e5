//! A gated delta net: states of candidates, read and written once for all rows of a step; a prompt's rows.

use std::sync::Arc;

use super::super::super::delta::{Courses, Through};
use super::super::super::gpu::{Buffer, Gpu};
use super::super::super::kernels;
use super::super::super::queue::{Again, Queue};
use super::super::{bits, numbers, receive, send};
use super::ceilings::seconds;
use super::report::Report;
use super::{Result, Sizes};
use crate::model::spec::DeltaNet;

/// Rows of a step that are done again, and its own.
const AGAIN: usize = 4;
const OWN: usize = 6;

/// Rows of sequences, with what they read and what comes of it.
struct Batch {
    net: DeltaNet,
    inputs: Buffer,
    steps: Buffer,
    filter: Buffer,
    biases: Buffer,
    decay: Buffer,
    mixed: Buffer,
    rates: Buffer,
    read: Buffer,
    /// Of each sequence; the log has all rows of a step.
    states: Vec<Buffer>,
    logs: Vec<Buffer>,
}

impl Batch {
    /// Of random rows.
    fn new(gpu: &Arc<Gpu>, net: DeltaNet, sequences: usize, rows: usize) -> Result<Self> {
        let (channels, heads, all) = (net.channels(), net.value_heads, sequences * rows);
        let floats = |floats: usize| gpu.alloc(floats * size_of::<f32>());
        let inputs = numbers(1, rows * channels).repeat(sequences);
        let layer = net.values().next_multiple_of(8) * net.key_dim.next_multiple_of(16) + 4 * channels + 32;
        let zeros = |len: usize| send(gpu, &vec![0.0f32; len]);
        Ok(Self {
            net,
            inputs: send(gpu, &inputs),
            steps: send(gpu, &numbers(2, rows * 2 * heads).repeat(sequences)),
            filter: send(gpu, &numbers(3, net.width * channels)),
            biases: send(gpu, &numbers(4, heads)),
            decay: send(gpu, &numbers(5, heads).iter().map(|x| -x.abs()).collect::<Vec<f32>>()),
            mixed: floats(all * channels)?,
            rates: floats(all * 2 * heads)?,
            read: floats(all * net.values())?,
            states: (0..sequences).map(|_| zeros(layer)).collect(),
            logs: (0..sequences).map(|_| zeros(rows * (channels + 2 * heads))).collect(),
        })
    }

    /// The rows `from` to `from + own` of each, behind `again` that are done again and settled.
    fn pieces(&self, gpu: &Arc<Gpu>, (from, again, own): (usize, usize, usize), settle: usize) -> (Buffer, Courses) {
        let rows = again + own;
        let piece = |(number, (state, log)): (usize, (&Buffer, &Buffer))| kernels::DeltaPiece {
            from: state.at(),
            to: state.at(),
            log: log.at(),
            log_first: 0,
            log_rows: rows as i32,
            again: again as i32,
            rows: rows as i32,
            settle: settle as i32,
            first_row: (from + number * own) as i32,
            place: (number * rows) as i32,
            padding: 0,
        };
        let list: Vec<_> = self.states.iter().zip(&self.logs).enumerate().map(piece).collect();
        let pieces = send(gpu, &list);
        let courses = Courses { pieces: pieces.at(), count: list.len(), most: rows, places: list.len() * rows };
        (pieces, courses)
    }

    fn ask(&self, queue: &Queue, courses: Courses) {
        let through = Through {
            net: self.net,
            layer: 0,
            courses,
            inputs: (self.inputs.at(), self.net.channels()),
            steps: self.steps.at(),
            filter: self.filter.at(),
            step_bias: self.biases.at(),
            decay: self.decay.at(),
            mixed: self.mixed.at(),
            rates: self.rates.at(),
            read: self.read.at(),
        };
        through.ask(queue);
    }
}

/// Times of a layer, beside that of reading and writing its states once.
pub fn states(gpu: &Arc<Gpu>, sizes: &Sizes, gb: f64, report: &mut Report) -> Result<()> {
    report.part("states of gated delta nets");
    let net = sizes.net;
    let batch = Batch::new(gpu, net, sizes.batch, AGAIN + OWN)?;
    let (_pieces, courses) = batch.pieces(gpu, (0, AGAIN, OWN), AGAIN);
    let step = seconds(gpu, false, 9, |queue| batch.ask(queue, courses))?;
    let floor = (2 * sizes.batch * net.values() * net.key_dim * size_of::<f32>()) as f64 / gb / 1e9;
    let rows = format!("{} candidates, {AGAIN} and {OWN} rows", sizes.batch);
    report.number(format!("a layer of a step, {rows}"), 1e6 * step, "us");
    report.number("the time of reading and writing the states once", 1e6 * floor, "us");

    let prompt = sizes.context.min(256);
    let whole = Batch::new(gpu, net, 1, prompt)?;
    let (_pieces, courses) = whole.pieces(gpu, (0, 0, prompt), prompt);
    let queue = Queue::new(gpu, true);
    whole.ask(&queue, courses);
    queue.start(Again::Hardly)?;
    let expected = receive(&whole.states[0]);
    let parts = Batch::new(gpu, net, 1, prompt)?;
    for (from, rows) in [(0, prompt / 3), (prompt / 3, prompt - prompt / 3)] {
        queue.begin()?;
        let (_pieces, courses) = parts.pieces(gpu, (from, 0, rows), rows);
        parts.ask(&queue, courses);
        queue.start(Again::Hardly)?;
        queue.synchronise()?;
    }
    let same = bits(&receive(&parts.states[0])) == bits(&expected);
    report.check("a prompt in two parts gives the same bits", same, "states differ");
    let took = seconds(gpu, false, 9, |queue| whole.ask(queue, courses))?;
    report.number(format!("a layer of {prompt} rows of a prompt"), 1e6 * took, "us");
    Ok(())
}
