//! Settings: defaults < config file < environment < flags; and where files live.
