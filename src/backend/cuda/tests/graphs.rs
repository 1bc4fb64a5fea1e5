//! Lists of launches as graphs, and values on their way.

use std::sync::Arc;

use super::super::gpu::{Buffer, Gpu};
use super::super::graphs::KEPT;
use super::super::kernels::{self, Pointer};
use super::super::plan::{MOST_PADDING, rounded, rounded_chunks};
use super::super::queue::{Again, Queue};
use super::emulator::{self, LATE, counts};
use super::{receive, send};

fn add(queue: &Queue, branch: Pointer, x: &Buffer, scale: f32) {
    let params = kernels::AddScaled { branch, x: x.at(), len: 4, scale, padding: 0 };
    queue.launch(&kernels::ADD_SCALED, [1, 1, 1], 0, params);
}

/// Adds one in this many launches, from values that are sent.
fn one(queue: &Queue, x: &Buffer, launches: usize) {
    queue.begin().expect("begun");
    let branch = queue.place(&[1.0f32 / launches as f32; 4]).expect("placed");
    for _ in 0..launches {
        add(queue, branch, x, 1.0);
    }
    queue.start(Again::Likely).expect("started");
    queue.read(x.at(), &mut [0.0f32; 4]).expect("read");
}

fn devices() -> Option<Vec<Arc<Gpu>>> {
    [0, LATE].into_iter().map(emulator::gpu).collect()
}

#[test]
fn graphs_are_made_of_what_comes_twice_and_few_are_kept() {
    if emulator::real().is_some() {
        return crate::skip::as_it_cannot("no emulator counts", "graphs that are made");
    }
    for gpu in devices().unwrap_or_default() {
        let (queue, x) = (Queue::new(&gpu, false), send(&gpu, &[0.0f32; 4]));
        let shapes = [1, 2, 4, 8];
        counts();
        for _ in 0..3 {
            for launches in shapes {
                one(&queue, &x, launches);
            }
        }
        let found = counts();
        assert_eq!((found.launches, found.graphs_made, found.graph_launches), (15, 4, 8), "{found:?}");
        assert_eq!((found.waits, found.to_device, found.to_host), (12, 12, 12), "{found:?}");
        assert_eq!(receive(&x), [12.0; 4]);
        // The graphs that were used last stay.
        for launches in (9..9 + KEPT - 1).flat_map(|launches| [launches, launches, 1]) {
            one(&queue, &x, launches);
        }
        let found = counts();
        assert_eq!((found.graphs_made, found.graphs_ended), (KEPT as u64 - 1, 3), "{found:?}");
        one(&queue, &x, 1);
        assert_eq!(counts().graph_launches, 1);
        drop(queue);
        assert_eq!(counts().graphs_ended, KEPT as u64);
        let expected = 12.0 + 3.0 * (KEPT - 1) as f32 + 1.0;
        assert!(receive(&x).iter().all(|x| (x - expected).abs() < 1e-3));
    }
}

#[test]
fn what_was_asked_for_and_never_started_is_forgotten() {
    let Some(gpu) = emulator::gpu(LATE) else { return };
    let (queue, x) = (Queue::new(&gpu, false), send(&gpu, &[0.0f32; 4]));
    queue.begin().expect("begun");
    let branch = queue.place(&[1.0f32; 4]).expect("placed");
    add(&queue, branch, &x, 1.0);
    let old = send(&gpu, &[2.0f32; 4]);
    add(&queue, old.at(), &x, 1.0);
    queue.retire(old);
    queue.begin().expect("begun");
    one(&queue, &x, 2);
    assert_eq!(receive(&x), [1.0; 4]);
}

/// More values than there is room for, started again and again without a wait: none is written over before it
/// was read.
#[test]
fn values_stay_until_they_are_read() {
    for gpu in devices().unwrap_or_default() {
        let (queue, x) = (Queue::new(&gpu, false), send(&gpu, &[0.0f32; 4]));
        let mut expected = 0.0;
        for number in 0..40u16 {
            queue.begin().expect("begun");
            let mut values = vec![f32::from(number); 1500];
            values.rotate_right(usize::from(number));
            let branch = queue.place(&values).expect("placed");
            add(&queue, branch, &x, 1.0);
            queue.start(if number % 3 == 0 { Again::Hardly } else { Again::Likely }).expect("started");
            expected += f32::from(number);
        }
        assert_eq!(receive(&x), [expected; 4]);
        // Memory that a launch names is given back after it.
        queue.begin().expect("begun");
        let more = send(&gpu, &[1.0f32; 4]);
        add(&queue, more.at(), &x, 1.0);
        queue.retire(more);
        queue.start(Again::Likely).expect("started");
        assert_eq!(receive(&x), [expected + 1.0; 4]);
    }
}

#[test]
fn numbers_are_rounded_up_a_little() {
    for count in 0..300 {
        assert!((count..=count + MOST_PADDING).contains(&rounded(count)) && rounded(rounded(count)) == rounded(count));
        assert!(rounded(count) <= rounded(count + 1), "{count}");
        assert!(rounded(count) <= count.max(4) || rounded(count) < 2 * count, "{count}");
        let chunks = rounded_chunks(count.max(1));
        assert!(chunks >= count && chunks <= (2 * count).max(1) && rounded_chunks(chunks) == chunks, "{count}");
    }
}
