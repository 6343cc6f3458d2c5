#!/bin/sh
# The compiler for Cargo (RUSTC_WORKSPACE_WRAPPER): the programs of tests are not optimised, unlike all that they use. Those of drives, arrays and
# the translation layer in tests/ are, and the engine's own modules: they take longer to run without than to optimise.
case " $* " in *" --test "*)
  case " $* " in
    *" crates/ssd/tests/"* | *" crates/array/tests/"* | *" crates/ftl/tests/"* | *" crates/engine/src/"*) ;;
    *" crates/"*) exec "$@" -C opt-level=0 ;;
  esac ;;
esac
exec "$@"
