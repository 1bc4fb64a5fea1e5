"""Tests of what makes the training text, and of the parts of the training that a mistake would spoil in silence.

    python tests.py          # with torch, numpy and tokenizers; without them only the first half
"""

import contextlib
import io
import json
import random
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import exercises
import phrasing
import weak

HERE = Path(__file__).parent
try:
    import numpy as np
    import torch
    from tokenizers import Tokenizer, models
    from torch.nn import functional as F

    import contamination
    import head
    import network
    import parallel
    import train
    import transfer
    from safetensors.torch import load_file
except ImportError as missing:
    MISSING = str(missing)
else:
    MISSING = ""


def samples(number, seed, *more):
    """Exercises as the generator writes them into a file."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out.jsonl"
        command = [sys.executable, HERE / "exercises.py", "--n", str(number), "--seed", str(seed), "--out", out, *more]
        subprocess.run([str(part) for part in command], check=True, capture_output=True)
        return out.read_text(encoding="utf-8")


class Exercises(unittest.TestCase):
    def test_all_implementations_of_a_task_agree(self):
        checked, bad = exercises.verify()
        self.assertEqual(bad, [])
        self.assertGreater(checked, 3000)

    def test_the_same_seed_writes_the_same_text_and_another_one_another(self):
        first = samples(150, 3)
        self.assertEqual(first, samples(150, 3))
        self.assertNotEqual(first, samples(150, 4))

    def test_every_sample_runs_and_keeps_the_promises_of_its_examples(self):
        import doctest

        for line in samples(300, 5).splitlines():
            text = json.loads(line)["text"]
            env = {}
            exec(compile(text, "<sample>", "exec"), env)
            functions = [v for v in env.values() if callable(v) and getattr(v, "__module__", None) != "typing" and getattr(v, "__doc__", None)]
            for f in functions:
                if ">>>" in f.__doc__:
                    test = doctest.DocTestParser().get_doctest(f.__doc__, env, f.__name__, None, 0)
                    result = doctest.DocTestRunner(verbose=False).run(test, out=lambda _: None)
                    self.assertEqual(result.failed, 0, text)

    def test_names_are_many(self):
        arguments = set()
        for line in samples(1500, 6).splitlines():
            signature = re.search(r"def \w+\((.*?)\)", json.loads(line)["text"])
            arguments |= {part.split(":")[0].strip() for part in signature.group(1).split(",")}
        self.assertGreater(len(arguments), 400)


class Phrasing(unittest.TestCase):
    def test_arguments_and_quoted_text_stay(self):
        rng = random.Random(1)
        for task in exercises.TASKS:
            for text in task.docs:
                for _ in range(3):
                    loose = phrasing.loosen(rng, text, 1.0)
                    self.assertEqual(phrasing.FIXED.findall(loose), phrasing.FIXED.findall(text))

    def test_descriptions_vary(self):
        rng = random.Random(2)
        seen = {phrasing.loosen(rng, "the sum of the elements of {xs} that are greater than {k}") for _ in range(200)}
        self.assertGreater(len(seen), 30)

    def test_arguments_that_are_alike_are_named_together(self):
        rng = random.Random(4)
        self.assertIn(["a", "b"], [phrasing.together(rng, ["pos", "pos2"]) for _ in range(100)])
        self.assertEqual(len(phrasing.together(rng, ["int", "int2", "int3"])), 3)
        self.assertEqual(len(phrasing.together(rng, ["word", "str2"])), 2)
        for kinds in ([], ["int"], ["ints", "k"], ["str", "char"]):
            self.assertIsNone(phrasing.together(rng, kinds))

    def test_names_are_identifiers(self):
        rng = random.Random(3)
        for kind, (_, _, _, _, usual) in exercises.KINDS.items():
            for _ in range(50):
                self.assertTrue(phrasing.argument(rng, kind, usual).isidentifier())
        for task in exercises.TASKS:
            for name in task.names:
                self.assertTrue(phrasing.function(rng, name).isidentifier(), name)


class Weak(unittest.TestCase):
    def test_a_problem_accepts_its_solution_and_not_nothing(self):
        for number in range(0, len(exercises.TASKS), 40):
            row = weak.problem(number, exercises.TASKS[number], 1)
            for body, right in ((row["canonical_solution"], True), ("    return object()\n", False)):
                env = {}
                exec(row["prompt"] + body + row["test"], env)
                if right:
                    env["check"](env[row["entry_point"]])
                else:
                    self.assertRaises((AssertionError, TypeError), env["check"], env[row["entry_point"]])

    def test_what_fails_comes_more_often(self):
        self.assertEqual(weak.weights(4, {"0": 0.0, "1": 1.0, "2": 0.5}), [weak.MOST, 1.0, (weak.MOST + 1) / 2, 1.0])
        tasks = {number: task.id for number, task in enumerate(exercises.TASKS)}
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "more_of.json"
            path.write_text(json.dumps([1000.0 if number == 5 else 1.0 for number in tasks]))
            found = [json.loads(line)["task"] for line in samples(100, 6, "--more-of", path).splitlines()]
            self.assertGreater(found.count(tasks[5]), 20)
            path.write_text("[1.0]")
            self.assertRaises(subprocess.CalledProcessError, samples, 1, 6, "--more-of", path)


@unittest.skipIf(MISSING, f"skipped: {MISSING}")
class Training(unittest.TestCase):
    def tokenizer(self):
        words = ["<|endoftext|>", "def", '"""', "doc", '."""\n', "body", "x"]
        return Tokenizer(models.WordLevel({word: i for i, word in enumerate(words)}, unk_token="x"))

    def test_what_stands_before_a_body_is_found(self):
        #                  end def  """ doc .""" body end def body end def """ doc """ body body
        tokens = np.array([0, 1, 2, 3, 4, 5, 0, 1, 5, 0, 1, 2, 3, 2, 5, 5])
        expected = [0, 1, 1, 1, 1, 0, 0, 0, 0, 0, 1, 1, 1, 1, 0, 0]
        self.assertEqual(train.prompts(tokens, self.tokenizer()).astype(int).tolist(), expected)
        # In the middle of a document nobody knows.
        self.assertFalse(train.prompts(tokens[3:6], self.tokenizer()).any())

    def test_going_on_draws_other_batches(self):
        drawn = []

        class Recording(train.Batches):
            def next(self, *arguments):
                drawn.append(super().next(*arguments))
                return drawn[-1]

        with tempfile.TemporaryDirectory() as folder:
            self.tokenizer().save(f"{folder}/tokenizer.json")
            np.save(Path(folder) / "exercises.npy", np.arange(2000, dtype=np.uint16) % 7)
            for name in ("functions", "files"):
                np.save(Path(folder) / f"{name}.npy", np.arange(2000, dtype=np.uint16) % 5)
            call = ["train.py", "--data", folder, "--shape", "tiny", "--context", "16", "--batch", "4", "--steps", "1"]
            runs = [["--out", f"{folder}/one"], ["--out", f"{folder}/two"], ["--out", f"{folder}/two", "--resume"]]
            with mock.patch.object(train, "Batches", Recording), contextlib.redirect_stdout(io.StringIO()):
                for run in runs:
                    with mock.patch.object(sys, "argv", call + run):
                        train.main()
        (first, _), (again, _), (later, _) = drawn
        self.assertTrue(torch.equal(first, again))
        self.assertFalse(torch.equal(first, later))

    def test_a_model_that_was_exported_is_the_same_when_loaded(self):
        made = network.Network(network.SHAPES["tiny"], 1)
        for block in made.blocks:
            torch.nn.init.normal_(block.o.weight, std=0.1)
        with tempfile.TemporaryDirectory() as folder:
            network.export(made, self.tokenizer(), folder, 64)
            loaded = network.load(folder)
            tokens = torch.arange(12)[None]
            with torch.no_grad():
                self.assertLess((made.bfloat16().float()(tokens) - loaded(tokens)).abs().max().item(), 1e-5)

    def test_the_mean_of_networks_is_that_of_their_weights(self):
        first, second = (network.Network(network.SHAPES["tiny"], seed) for seed in (1, 2))
        name = "embedding.weight"
        mean = train.averaged([first.state_dict(), second.state_dict()])
        self.assertEqual(mean.keys(), first.state_dict().keys())
        self.assertLess((mean[name] - (first.state_dict()[name] + second.state_dict()[name]) / 2).abs().max().item(), 1e-7)

    def test_a_student_like_its_teacher_diverges_by_nothing(self):
        logits = torch.randn(2, 3, 5)
        weights = torch.full((6,), 1 / 6)
        self.assertLess(train.divergence(logits, logits, weights).abs().item(), 1e-6)
        by_hand = (F.softmax(logits, -1) * (F.log_softmax(logits, -1) - F.log_softmax(-logits, -1))).sum(-1).mean()
        self.assertAlmostEqual(train.divergence(logits, -logits, weights).item(), by_hand.item(), places=5)

    def test_benchmark_text_is_kept_out(self):
        with tempfile.TemporaryDirectory() as folder:
            problems = Path(folder) / "problems.jsonl"
            problem = 'def f(a):\n    """Give back the seventh of all numbers in a that are red."""\n'
            problems.write_text(json.dumps({"prompt": problem}) + "\n")
            keep_out = contamination.Filter([problems])
            self.assertTrue(keep_out.meets('def g(b):\n    """Give back the seventh of all numbers in a box."""\n    return 1\n'))
            self.assertFalse(keep_out.meets('def g(b):\n    """Give back the eighth of all numbers in a box."""\n    return 1\n'))


@unittest.skipIf(MISSING, f"skipped: {MISSING}")
class Parallel(unittest.TestCase):
    def network(self):
        made = network.Network(network.SHAPES["tiny"], 1)
        for block in made.blocks:
            for part in (block.o, block.down):
                torch.nn.init.normal_(part.weight, std=0.1)
        return parallel.with_mask(made)

    @torch.no_grad()
    def test_a_row_of_training_says_what_drafting_would(self):
        made, mask = self.network(), network.SHAPES["tiny"].vocabulary
        tokens = torch.randint(mask, (2, 24))
        rows = parallel.layout(tokens.shape[1] - 1, 4, 0.7, tokens.device)
        self.assertEqual(set(rows.masks.tolist()), {0, 1, 2, 3})
        found = parallel.logits(made, tokens, rows)
        for row, (last, masks) in enumerate(zip(rows.last.tolist(), rows.masks.tolist())):
            text = torch.cat([tokens[:, : last + 1], torch.full((2, masks), mask)], dim=1)
            self.assertLess((made(text)[:, -1] - found[:, row]).abs().max().item(), 1e-5)

    def test_chains_are_whole_and_end_with_the_text(self):
        rows = parallel.layout(50, 6, 0.5, torch.device("cpu"))
        chains = list(zip(rows.last.tolist(), rows.masks.tolist()))
        self.assertEqual(len(chains), len(set(chains)))
        self.assertLess(len(chains), 2.3 * 50)
        for last, masks in chains:
            self.assertLess(last + masks, 50)
            self.assertTrue(masks == 0 or (last, masks - 1) in chains)

    def test_nothing_is_asked_behind_the_end_of_a_document(self):
        tokens = torch.tensor([[0, 5, 6, 0, 7]])
        rows = parallel.Layout(torch.tensor([0, 1, 1, 1, 2, 3]), torch.tensor([0, 0, 1, 2, 1, 0]))
        wanted, weights = parallel.asked(tokens, torch.tensor([[1.0, 2.0, 3.0, 4.0]]), rows, 0)
        self.assertEqual(wanted.tolist(), [[5, 6, 0, 7, 7, 7]])
        self.assertEqual(weights.tolist(), [[1, 2, 3, 0, 0, 4]])

    def test_drafts_of_the_main_model_itself_are_accepted(self):
        main = network.Network(network.SHAPES["tiny"], 2)
        for block in main.blocks:
            torch.nn.init.normal_(block.o.weight, std=0.1)
        words = ["<|endoftext|>", "def", '"""', "doc", "body", "x"]
        tokenizer = Tokenizer(models.WordLevel({word: i for i, word in enumerate(words)}, unk_token="x"))
        with tempfile.TemporaryDirectory() as folder:
            np.save(Path(folder) / "exercises_heldout.npy", np.array([0, 1, 2, 3, 2, 4, 0, 1, 2, 3, 3, 3, 2, 5], np.uint16))
            found = parallel.measure(main, parallel.with_mask(main), main, Path(folder), tokenizer, 3)
        for shares in found.values():
            self.assertEqual(shares["draft"], [1.0] * 3)
            self.assertEqual(shares["parallel, one pass"][0], shares["parallel, one by one"][0])

    def test_a_model_that_knows_the_mask_says_so(self):
        with tempfile.TemporaryDirectory() as folder:
            words = {"<|endoftext|>": 0, "x": 1}
            made = self.network()
            network.export(made, Tokenizer(models.WordLevel(words, unk_token="x")), folder, 64)
            self.assertIsNone(parallel.mask_of(folder))
            parallel.name_mask(Path(folder), 4096)
            self.assertEqual(parallel.mask_of(folder), 4096)
            config = json.loads((Path(folder) / "config.json").read_text())
            self.assertEqual([config[key] for key in ("vocab_size", "pard_token", "spd_type")], [4097, 4096, "pard"])
            self.assertEqual(network.load(folder).embedding.weight.shape[0], 4097)

    def test_the_loss_is_that_of_the_text_and_of_the_teacher(self):
        by_teacher, positions, wanted = torch.randn(2, 3, 5), torch.tensor([0, 1, 2, 2]), torch.randint(5, (2, 4))
        given = torch.cat([by_teacher[:, positions], torch.full((2, 4, 1), -1e9)], dim=-1)
        by_text = F.cross_entropy(given.flatten(0, 1), wanted.flatten(), reduction="none").view(2, 4)
        self.assertLess((parallel.taught(by_teacher, given, wanted, positions) - 0.3 * by_text).abs().max().item(), 1e-5)
        # What the mask gets is missing elsewhere.
        given[..., 5] = 1.0
        self.assertGreater((parallel.taught(by_teacher, given, wanted, positions) - 0.3 * by_text).min().item(), 0.05)


@unittest.skipIf(MISSING, f"skipped: {MISSING}")
class Head(unittest.TestCase):
    def main(self):
        made = network.Network(network.SHAPES["tiny"], 2)
        for block in made.blocks:
            for part in (block.o, block.down):
                torch.nn.init.normal_(part.weight, std=0.1)
        return made

    def head(self, main):
        made = head.Head(main, torch.arange(5, 4000, 7), head.usual(len(main.blocks)), 96)
        for part in (made.fc, made.o, made.down):
            torch.nn.init.normal_(part.weight, std=0.1)
        return made

    @torch.no_grad()
    def test_a_chain_of_training_says_what_drafting_would(self):
        main = self.main()
        made, tokens, steps = self.head(main), torch.randint(4096, (2, 20)), 3
        states, by_main = head.read(main, tokens, made.before)
        self.assertLess((main(tokens) - by_main).abs().max().item(), 1e-5)
        found = list(made.chains(main, tokens, states, steps))
        for row in range(tokens.shape[1] - steps):
            state = made.fc(states[:, : row + 1])
            for number in range(1, steps + 1):
                last = made(main.embedding(tokens[:, 1 : row + 1 + number]), state, [])[:, -1:]
                self.assertLess((made.logits(last)[:, 0] - found[number - 1][:, row]).abs().max().item(), 1e-4)
                state = torch.cat([state, last], dim=1)

    @torch.no_grad()
    def test_what_is_written_is_what_the_main_model_says(self):
        main, given = self.main(), torch.full((2, 12), -1)
        given[0, :5], given[1, :2] = torch.arange(5), torch.arange(2)
        tokens = head.written(main, given, 0.0)
        self.assertTrue(torch.equal(tokens[given >= 0], given[given >= 0]))
        said = F.pad(main(tokens).argmax(-1)[:, :-1], (1, 0))
        self.assertTrue(torch.equal(tokens[given < 0], said[given < 0]))

    @torch.no_grad()
    def test_the_loss_is_the_cross_entropy_with_the_main_model(self):
        main, tokens, weights = self.main(), torch.randint(4096, (2, 20)), torch.rand(2, 20)
        made = self.head(main)
        made.ids = torch.arange(4096)
        by_main, given = main(tokens), [torch.randn(2, 17, 4096) for _ in range(3)]
        sums = torch.zeros(2)
        for number, logits in enumerate(given, 1):
            wanted, counts = by_main[:, number : number + 17].softmax(-1), weights[:, number : number + 17] * 0.8 ** (number - 1)
            each = F.cross_entropy(logits.flatten(0, 1), wanted.flatten(0, 1), reduction="none").view(2, 17)
            sums += torch.stack([(each * counts).sum(), counts.sum()])
        with mock.patch.object(made, "chains", lambda *_: given):
            self.assertAlmostEqual(head.taught(made, main, tokens, weights, 3).item(), (sums[0] / sums[1]).item(), places=4)

    @torch.no_grad()
    def test_drafts_from_states_know_what_is_there_when_they_are_made(self):
        main, tokens, steps = self.main(), torch.randint(4096, (1, 20)), 3
        for kind, newest in (("heads", 0), ("short", 1), ("hidden", 0)):
            a = mock.Mock(kind=kind, steps=steps)
            made = (transfer.Hidden if kind == "hidden" else transfer.Heads)(main, torch.arange(4096), a)
            for p in [p for p in made.parameters() if p.requires_grad]:
                torch.nn.init.normal_(p, std=0.1)
            others, row = tokens.clone(), 9
            others[0, row + 1 + newest :] = 7
            found = [list(made.chains(main, each, head.read(main, each, made.before)[0], steps)) for each in (tokens, others)]
            for one, other in zip(*found):
                self.assertLess((one[:, : row + 1] - other[:, : row + 1]).abs().max().item(), 1e-5, kind)
            self.assertGreater((found[0][0][:, row + 2 :] - found[1][0][:, row + 2 :]).abs().max().item(), 1e-3, kind)

    @torch.no_grad()
    def test_states_ahead_are_what_a_pass_with_them_gives(self):
        main, tokens, steps = self.main(), torch.randint(4096, (1, 20)), 3
        made = transfer.Hidden(main, torch.arange(4096), mock.Mock(steps=steps))
        for own in made.made:
            torch.nn.init.normal_(own.weight, std=0.1)
        states, _ = head.read(main, tokens, made.before)
        found, row = list(made.chains(main, tokens, states, steps)), 9
        x = torch.cat([states[:, : row + 1]] + [own(states[:, row, None]) for own in made.made], 1)
        for block in main.blocks[made.middle :]:
            x = block(x, head.angles(main.shape, torch.arange(x.shape[1])))
        wanted = F.linear(main.norm(x[:, -steps:]), main.embedding.weight)[0]
        self.assertLess((torch.stack([one[0, row] for one in found]) - wanted).abs().max().item(), 1e-4)

    def test_frequent_tokens_are_those_of_bodies(self):
        arrays, prompts = torch.tensor([1, 1, 1, 5, 5, 3, 9, 9]), torch.tensor([True] * 3 + [False] * 5)
        batches = mock.Mock(arrays={"exercises": arrays}, prompts={"exercises": prompts}, mix={"exercises": (1.0, 1.0)})
        self.assertEqual(head.frequent(batches, 2).tolist(), [5, 9])

    def test_a_head_is_written_as_published_ones_are(self):
        main = self.main()
        made = self.head(main)
        with tempfile.TemporaryDirectory() as folder:
            head.export(made, main, Path(folder))
            weights, config = load_file(Path(folder) / "model.safetensors"), json.loads((Path(folder) / "config.json").read_text())
        self.assertEqual([config[key] for key in ("vocab_size", "draft_vocab_size")], [4096, len(made.ids)])
        self.assertEqual(config["eagle_config"]["eagle_aux_hidden_state_layer_ids"], [0, 0, 0])
        self.assertTrue(torch.equal(weights["d2t"] + torch.arange(len(made.ids)), made.ids))
        self.assertTrue(torch.equal(weights["t2d"].nonzero()[:, 0], made.ids))
        self.assertEqual(list(weights["midlayer.self_attn.k_proj.weight"].shape), [32, 128])
        self.assertEqual(len(weights), 15)


if __name__ == "__main__":
    unittest.main()
