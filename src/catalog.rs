//! `models.toml`: names of model pairs, built in and the user's own.
