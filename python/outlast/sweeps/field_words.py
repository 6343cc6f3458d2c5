"""The words of other programs that vary parameters for the keys of a sweep."""

from __future__ import annotations

from outlast.suggestions import table_of

WORDS = table_of(
    {
        "scenario": "base preset config drive extends file template",
        "name": "title",
        "set": "settings overrides fixed defaults override",
        "method": "sampling design strategy search sampler type",
        "points": "samples n n_samples num_samples trials count",
        "seed": "random_state rng randseed",
        "repeats": "repetitions replicates replications runs seeds n_seeds reps iterations",
        "figures": "metrics outputs measures results objective objectives columns metric",
        "pareto": "front pareto_front optimise optimize",
        "confidence": "alpha confidence_level ci interval",
        "retries": "retry max_retries attempts",
        "vary": "parameters params grid axes axis sweep matrix variables parameter space",
        "vary.setting": "parameter key path param variable field",
        "vary.values": "value list options levels range",
        "vary.from": "start min minimum low begin lower",
        "vary.to": "stop end max maximum high upper",
        "vary.steps": "n num count step",
        "vary.scale": "spacing log distribution",
        "vary.labels": "names legend",
        "vary.choices": "cases variants configurations presets",
    }
)
