//! The state of a sequence in memory, in the order of the kernels.

use crate::backend::BackendError;
use crate::backend::cpu::memory::Zeroed;
use crate::backend::cpu::pack::{F32x16, NR};
use crate::backend::states::{self, StateMemory};
use crate::model::ModelSpec;
use crate::model::spec::DeltaNet;

/// Sizes of the states of a model.
#[derive(Clone, Copy, Debug)]
pub struct Sizes {
    /// Gated delta nets of the model.
    pub layers: usize,
    /// All are alike.
    pub net: DeltaNet,
}

impl Sizes {
    /// Sizes for this model; `None` without gated delta nets.
    pub fn of(spec: &ModelSpec) -> Option<Self> {
        spec.delta_nets().map(|(layers, net)| Self { layers, net })
    }

    /// Blocks of floats of a head's matrix, `[ceil(value_dim / 16), key_dim]`.
    pub fn head(&self) -> usize {
        self.net.value_dim.div_ceil(NR) * self.net.key_dim
    }

    /// Blocks of floats of a layer.
    pub fn layer(&self) -> usize {
        self.net.value_heads * self.head()
    }

    /// Floats of a layer that the convolution sees of earlier rows, `[width - 1, channels]`.
    pub fn inputs(&self) -> usize {
        (self.net.width - 1) * self.net.channels()
    }
}

/// A state after some positions.
pub type State = states::State<Matrices>;

/// A state of all layers.
pub struct Matrices {
    /// `[layer][value head][ceil(value_dim / 16)][key_dim]`.
    pub matrices: Zeroed<F32x16>,
    /// Inputs of the convolution of the last rows, `[layer][width - 1][channels]`.
    pub inputs: Zeroed<f32>,
}

/// Rows of a layer, as far as the recurrence needs them.
#[derive(Clone, Default)]
pub struct Log {
    /// Inputs of the convolution `[rows, channels]`.
    pub inputs: Vec<f32>,
    /// Beta, then decay of each value head `[rows, 2 * value_heads]`.
    pub rates: Vec<f32>,
}

impl StateMemory for Sizes {
    type State = Matrices;
    /// One of each layer.
    type Log = Vec<Log>;

    fn zero(&self) -> Result<Matrices, BackendError> {
        self.make()
    }

    fn make(&self) -> Result<Matrices, BackendError> {
        let memory = |bytes| BackendError::Memory { bytes };
        let matrices = Zeroed::new(self.layers * self.layer()).map_err(memory)?;
        let inputs = Zeroed::new(self.layers * self.inputs()).map_err(memory)?;
        Ok(Matrices { matrices, inputs })
    }

    fn copied(&self, from: &Matrices, len: usize, spare: Option<Matrices>) -> Result<Matrices, BackendError> {
        if len == 0 {
            // Pages that were never written stay untouched.
            return self.make();
        }
        let mut copy = spare.map_or_else(|| self.make(), Ok)?;
        copy.matrices.copy_from_slice(&from.matrices);
        copy.inputs.copy_from_slice(&from.inputs);
        Ok(copy)
    }

    fn log(&self) -> Result<Vec<Log>, BackendError> {
        Ok(vec![Log::default(); self.layers])
    }

    fn bytes(&self) -> usize {
        self.layers * (self.layer() * size_of::<F32x16>() + self.inputs() * size_of::<f32>())
    }

    fn row(&self) -> usize {
        self.layers * (self.net.channels() + 2 * self.net.value_heads) * size_of::<f32>()
    }
}
