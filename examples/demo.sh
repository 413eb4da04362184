#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Usage: examples/demo.sh PROGRAM (make demo runs it). The main job on a real graph: 20 labels per class are given,
# copse predicts the rest, and the hidden truth says how well. Needs bash, awk and gzip; a few seconds.
set -euo pipefail
export LC_ALL=C  # the same awk and sort on every machine
copse=$(realpath "${1:?usage: examples/demo.sh PROGRAM}")
cd "$(dirname "$0")/.."
graph=data/debian/edges.tsv.zst
given_per_section=25
package=vim
out=build/demo
mkdir -p "$out"

bold='' plain=''
if [ -t 1 ] && [ -z "${NO_COLOR:-}" ]; then bold=$'\033[1m' plain=$'\033[0m'; fi
title() { printf '\n%s%s%s\n' "$bold" "$*" "$plain"; }
say() { printf '  %s\n' "$@"; }

gzip -dc data/debian/labels.tsv.gz > "$out/truth.tsv"
facts=$("$copse" graph info "$graph" --labels "$out/truth.tsv" --quiet)
fact() {
  awk -F'\t' -v key="$1" '$1 == key { print $2 }' <<< "$facts"
}
grouped() {  # 12345 as 12,345
  awk -v n="$1" 'BEGIN { for (; length(n) > 3; n = substr(n, 1, length(n) - 3)) rest = "," substr(n, length(n) - 2) rest; print n rest }'
}

title "The graph: which package of Debian 12 depends on which"
say "$(grouped "$(fact num_nodes)") packages, $(grouped "$(fact num_edges)") dependencies, $(fact num_components) components, in $(fact num_classes) sections" \
    "(games, python, libs, ...). The busiest package has $(grouped "$(fact max_degree)") neighbours."

# Every k-th of a section in alphabetical order, or half of a section that has fewer than twice as many.
awk -F'\t' -v most="$given_per_section" '
  FNR == 1 { ++file }
  file == 1 { size[$2]++; next }
  {
    give = size[$2] < 2 * most ? int(size[$2] / 2) : most
    place = seen[$2]++
    if (int((place + 1) * give / size[$2]) > int(place * give / size[$2])) print
  }' "$out/truth.tsv" "$out/truth.tsv" > "$out/given.tsv"
num_given=$(awk 'END { print NR }' "$out/given.tsv")

title "The task: up to $given_per_section known labels per section, $(grouped "$num_given") in all; and the others?"
say "\$ copse predict $graph \\" "      --labels $out/given.tsv -o $out/predictions.tsv"
started=$(date +%s%N)
"$copse" predict "$graph" --labels "$out/given.tsv" -o "$out/predictions.tsv" --quiet
elapsed=$(awk -v a="$started" -v b="$(date +%s%N)" 'BEGIN { printf "%.1f", (b - a) / 1e9 }')
say "done in $elapsed s, reading included (a pool of learners: docs/learners/auto.md)"
"$copse" predict "$graph" --labels "$out/given.tsv" --learner majority_vote -o "$out/baseline.tsv" --quiet

# Share of right answers on the hidden labels, and what it is where copse is sure.
title "How many answers are right, by the hidden truth"
awk -F'\t' '
  function bar(share,   text, i) {
    for (i = 1; i <= 20; ++i) text = text (i <= share * 20 + 0.5 ? "#" : ".")
    return text
  }
  FNR == 1 { ++file }
  file == 1 { truth[$1] = $2; next }
  FNR == 1 || $4 == "given" { next }
  file == 2 { ++hidden; count[truth[$1]]++; right = $2 == truth[$1]; hits += right
              for (p = 9; p >= 5; p -= 2) if ($3 >= p / 10) { ++sure[p]; sure_hits[p] += right } }
  file == 3 { baseline += $2 == truth[$1]; alone += $4 == "unreached" }
  END {
    for (c in count) if (count[c] > most) most = count[c]
    printf "  %-48s %s %5.1f %%\n", "always the commonest section", bar(most / hidden), 100 * most / hidden
    printf "  %-48s %s %5.1f %%\n", sprintf("majority of labelled neighbours (%.0f %% have none)", 100 * alone / hidden), bar(baseline / hidden), 100 * baseline / hidden
    printf "  %-48s %s %5.1f %%\n\n", "copse, all answers", bar(hits / hidden), 100 * hits / hidden
    for (p = 5; p <= 9; p += 2) if (sure[p])
      printf "  %-48s %s %5.1f %%\n", sprintf("  if it is at least %d0 %% sure (%.0f %% of all)", p, 100 * sure[p] / hidden),
             bar(sure_hits[p] / sure[p]), 100 * sure_hits[p] / sure[p]
  }' "$out/truth.tsv" "$out/predictions.tsv" "$out/baseline.tsv"

title "Why? Ask about one of them: $package"
say "\$ copse explain $graph $package \\" "      --labels $out/given.tsv"
"$copse" explain "$graph" "$package" --labels "$out/given.tsv" --quiet > "$out/why.tsv"
awk -F'\t' -v package="$package" '
  FNR == 1 { ++file }
  file == 1 { if ($1 == package) truth = $2; next }
  file == 2 { if ($1 == package) { answer = $2; share = $3 } next }
  FNR == 1 { printf "  %s: \"%s\", %.0f %% sure (Debian says \"%s\"), because of\n\n", package, answer, 100 * share, truth
             printf "    %-28s %-14s %9s  %s\n", "labelled package", "section", "weight", "resistance"; next }
  FNR <= 7 { printf "    %-28s %-14s %7.0f %%  %10.1f\n", $1, $2, 100 * $3, $4 }
  END { if (FNR > 7) printf "    ... and %d more\n", FNR - 7 }' "$out/truth.tsv" "$out/predictions.tsv" "$out/why.tsv"

title "A label costs somebody's time: which packages to ask about next?"
say "\$ copse query $graph --count 3 \\" "      --labels $out/given.tsv"
"$copse" query "$graph" --labels "$out/given.tsv" --count 3 --quiet | awk 'FNR > 1 { print "    " $1 }'

title "Next"
"$copse" report "$graph" --labels "$out/given.tsv" -o "$out/report.html" --quiet
printf '  %-28s %s\n' "$out/report.html" "accuracy, reliability, doubtful labels: a page" \
  "$out/predictions.tsv" "every package, its section, the confidence" \
  "$1 serve --demo" "label by hand in a browser, with questions" \
  docs/getting-started.md "the same with a graph of your own" "$1 --help" "all verbs, with examples"
