//! Mixtures of experts, as launches: which experts a row takes is decided on the GPU (`kernels/experts.cu`),
//! and the launches are the same whatever they are.

use std::sync::Arc;

use super::gpu::{Buffer, Gpu};
use super::kernels::{self, Pointer};
use super::matrix::{Matrix, Method, STORAGES};
use super::plan::Attended;
use super::products::{activate, linear};
use super::queue::Queue;
use super::work::Work;
use crate::backend::BackendError;
use crate::backend::weights::{BlockWeights, MlpWeights};
use crate::model::spec::{Experts, Mlp};

/// Choices of one expert that are multiplied together, at most: rows of a tile.
pub const TOGETHER: usize = kernels::GEMM_ROWS;

/// Where the weights of a block's experts are.
pub struct Tables {
    up: Table,
    down: Table,
}

impl Tables {
    /// Experts of a block, in place of its MLP or beside it; `None` where it has but one MLP.
    pub fn new(gpu: &Arc<Gpu>, block: &BlockWeights<Matrix, Buffer>) -> Result<Option<Self>, BackendError> {
        let instead = block.router.as_ref().map(|_| &block.mlps);
        let beside = block.beside.as_ref().map(|beside| &beside.mlps);
        instead.or(beside).map(|mlps| Self::of(gpu, mlps)).transpose()
    }

    /// Of these experts.
    pub fn of(gpu: &Arc<Gpu>, mlps: &[MlpWeights<Matrix, Buffer>]) -> Result<Self, BackendError> {
        let up: Vec<_> = mlps.iter().map(|mlp| (&mlp.up, mlp.up_bias.as_ref())).collect();
        let down: Vec<_> = mlps.iter().map(|mlp| (&mlp.down, mlp.down_bias.as_ref())).collect();
        Ok(Self { up: Table::new(gpu, &up)?, down: Table::new(gpu, &down)? })
    }
}

/// One matrix of each expert, in the memory of the GPU.
struct Table {
    /// The experts' first parts, second parts and so on, `[experts]` each.
    parts: Vec<Parts>,
    outputs: usize,
}

/// A part of each expert's matrix.
struct Parts {
    memory: Buffer,
    /// Storages of the experts' parts, nearly always one: number in [`STORAGES`], and weights of a row
    /// without and with padding.
    storages: Vec<(usize, (usize, usize))>,
    /// Rows of the largest.
    outputs: usize,
}

impl Table {
    fn new(gpu: &Arc<Gpu>, experts: &[(&Matrix, Option<&Buffer>)]) -> Result<Self, BackendError> {
        let most = experts.iter().map(|(matrix, _)| matrix.pieces.len()).max().unwrap_or(0);
        let parts = (0..most).map(|number| Parts::new(gpu, experts, number)).collect::<Result<_, _>>()?;
        Ok(Self { parts, outputs: experts.first().map_or(0, |(matrix, _)| matrix.outputs) })
    }

    /// Products of the choices with their experts' matrices.
    fn products(&self, queue: &Queue, (together, groups): (Pointer, usize), (x, out): (Pointer, Pointer)) {
        let mut inputs = None;
        for part in &self.parts {
            let (parts, out_stride) = (part.memory.at(), self.outputs as i32);
            for &(storage, row) in &part.storages {
                match &STORAGES[storage].1 {
                    Method::Tiles(tiled) => {
                        let of = tiled.inputs(queue, (x, groups * TOGETHER), row, inputs.as_ref());
                        let shape = (part.outputs, row.1);
                        tiled.experts(queue, (parts, shape), (together, groups), &of, (out, self.outputs));
                        inputs = Some(of);
                    }
                    Method::Chains(_, kernel) => {
                        let params = kernels::ExpertGemm { parts, together, x, out, out_stride, padding: 0 };
                        let grid = [part.outputs.div_ceil(kernels::GEMM_OUTPUTS), groups, 1];
                        queue.launch(kernel, grid, kernels::GEMM_MEMORY, params);
                    }
                }
            }
        }
    }
}

impl Parts {
    fn new(gpu: &Arc<Gpu>, experts: &[(&Matrix, Option<&Buffer>)], number: usize) -> Result<Self, BackendError> {
        let (mut storages, mut outputs) = (Vec::new(), 0);
        let part = |&(matrix, bias): &(&Matrix, Option<&Buffer>)| {
            let first = matrix.pieces.iter().take(number).map(|piece| piece.outputs).sum::<usize>();
            let Some(piece) = matrix.pieces.get(number) else {
                return kernels::ExpertPart { matrix: kernels::Matrix::NONE, first: 0, padding: 0 };
            };
            outputs = outputs.max(piece.outputs);
            let stored = (piece.storage(), piece.row());
            if !storages.contains(&stored) {
                storages.push(stored);
            }
            let bias = bias.map_or(0, |bias| bias.at() + (first * size_of::<f32>()) as u64);
            kernels::ExpertPart { matrix: piece.there(bias), first: first as i32, padding: 0 }
        };
        let parts: Vec<kernels::ExpertPart> = experts.iter().map(part).collect();
        let mut memory = gpu.alloc(size_of_val(&parts[..]))?;
        memory.write(0, &parts)?;
        Ok(Self { memory, storages, outputs })
    }
}

/// Working memory of experts.
pub struct Choices {
    /// `[rows, experts]`.
    logits: Work,
    /// Of every choice its expert, its share and its place.
    chosen: Work,
    shares: Work,
    places: Work,
    /// Rows at every place, and which places are multiplied together.
    rows: Work,
    together: Work,
    /// Inputs and outputs of the experts, `[places, hidden]`.
    inputs: Work,
    outputs: Work,
}

impl Choices {
    /// None yet.
    pub fn new(queue: &Arc<Queue>) -> Self {
        let work = || Work::new(queue);
        Self {
            logits: work(),
            chosen: work(),
            shares: work(),
            places: work(),
            rows: work(),
            together: work(),
            inputs: work(),
            outputs: work(),
        }
    }

    /// For so many rows.
    pub fn room(&mut self, spec: Experts, rows: usize, hidden: usize) -> Result<Room, BackendError> {
        let choices = rows * spec.used;
        let groups = most_groups(choices, spec.count, TOGETHER);
        let size = groups * TOGETHER;
        Ok(Room {
            spec,
            choices,
            groups,
            size,
            logits: self.logits.floats(rows * spec.count)?,
            chosen: self.chosen.bytes(choices * size_of::<i32>())?,
            shares: self.shares.floats(choices)?,
            places: self.places.bytes(choices * size_of::<i32>())?,
            rows: self.rows.bytes(size * size_of::<i32>())?,
            together: self.together.bytes(groups * size_of::<kernels::Together>())?,
            inputs: self.inputs.floats(size * hidden)?,
            outputs: self.outputs.floats(size * hidden)?,
        })
    }
}

/// Where the choices of some rows are.
pub struct Room {
    spec: Experts,
    /// How many there are, with those of padding rows.
    choices: usize,
    groups: usize,
    /// Places for them: of every group as many.
    pub size: usize,
    logits: Pointer,
    chosen: Pointer,
    shares: Pointer,
    places: Pointer,
    rows: Pointer,
    together: Pointer,
    inputs: Pointer,
    outputs: Pointer,
}

/// Groups of at most `most` choices of one expert, whatever rows choose.
pub fn most_groups(choices: usize, experts: usize, most: usize) -> usize {
    // The more experts are taken, the more groups are not full.
    let taken = choices.min(experts);
    taken + (choices - taken) / most
}

/// Router of a block.
pub struct Router<'a> {
    pub weights: &'a Matrix,
    pub bias: Option<&'a Buffer>,
    /// Factors of the shares.
    pub factors: Option<&'a Buffer>,
}

impl Router<'_> {
    /// Which experts rows take, which lie back to back in `x`, and which rows are multiplied together.
    pub fn choose(&self, queue: &Queue, room: &Room, x: Pointer, rows: &Attended) {
        let &Room { spec, choices, groups, logits, chosen, shares, places, together, .. } = room;
        let (count, used) = (spec.count as i32, spec.used as i32);
        linear(queue, (self.weights, self.bias), (x, logits), rows.rows, false);
        let params = kernels::ChooseExperts {
            logits,
            positions: rows.positions,
            factors: self.factors.map_or(0, Buffer::at),
            chosen,
            shares,
            count,
            used,
            normalised: i32::from(spec.normalised),
            padding: 0,
        };
        let memory = spec.used * (size_of::<f32>() + size_of::<i32>());
        queue.launch(&kernels::CHOOSE_EXPERTS, [rows.rows, 1, 1], memory, params);
        let params = kernels::GroupChoices {
            chosen,
            rows: room.rows,
            places,
            together,
            choices: choices as i32,
            used,
            experts: count,
            groups: groups as i32,
            most: TOGETHER as i32,
            padding: 0,
        };
        queue.launch(&kernels::GROUP_CHOICES, [1, 1, 1], spec.count * size_of::<i32>(), params);
    }
}

/// The chosen experts on rows that lie back to back, stored in `out` or added to it. `up` and `activated`
/// have room for all places.
pub fn experts(
    queue: &Queue,
    mlp: Mlp,
    (tables, room): (&Tables, &Room),
    (up, activated): (Pointer, Pointer),
    (x, out): (Pointer, Pointer),
    (rows, add): (usize, bool),
) {
    let &Room { spec, groups, chosen, shares, places, together, inputs, outputs, .. } = room;
    let (hidden, used) = (tables.down.outputs, spec.used as i32);
    let params = kernels::GatherRows { x, rows: room.rows, out: inputs, width: hidden as i32, padding: 0 };
    queue.launch(&kernels::GATHER_ROWS, [room.size, 1, 1], 0, params);

    tables.up.products(queue, (together, groups), (inputs, up));
    activate(queue, mlp, (up, activated), room.size);
    tables.down.products(queue, (together, groups), (activated, outputs));
    let params = kernels::AddExperts {
        chosen,
        shares,
        places,
        x: outputs,
        out,
        used,
        width: hidden as i32,
        add: i32::from(add),
        padding: 0,
    };
    queue.launch(&kernels::ADD_EXPERTS, [rows, 1, 1], 0, params);
}
