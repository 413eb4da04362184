#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Prints the tables of docs/results.md as Markdown:  docs/results.sh build/copse path/to/data > tables.md
# DATA holds one folder per set (cora, citeseer, ...), each with edges.tsv or edges.tsv.zst and labels.tsv.
# A table is the mean and the standard deviation over the rows that `copse evaluate` prints; seed 1 throughout.
set -euo pipefail
export LC_ALL=C
copse=${1:?usage: docs/results.sh PROGRAM DATA}
data=${2:?usage: docs/results.sh PROGRAM DATA}
splits=${SPLITS:-10}
learners=wta:num_trees=1,wta:num_trees=11,wta:num_trees=31,wta:num_trees=101,majority_vote
others=wta,tree_cut,label_propagation,label_propagation:shift=none,poisson,kernel_ridge,kernel_ridge:on=tree
few=wta,tree_cut,label_propagation,label_propagation:shift=none,poisson,poisson:balance=true:prior=uniform

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

graph_of() {
  if [ -e "$data/$1/edges.tsv" ]; then echo "$data/$1/edges.tsv"; else echo "$data/$1/edges.tsv.zst"; fi
}

evaluate() {  # set, learners, where to: rows of `copse evaluate` with the set in front
  local several=()
  if [ "$1" = krogan ]; then several=(--multi-label); fi
  echo "$1" >&2
  "$copse" evaluate "$(graph_of "$1")" --labels "$data/$1/labels.tsv" --learners "$2" \
    --train 0.05,0.1,0.25 --splits "$splits" --quiet "${several[@]}" |
    awk -v set="$1" 'NR > 1 { print set "\t" $0 }' >> "$3"
}
for set in cora citeseer pubmed polblogs krogan rcv1_10k debian_deps; do
  evaluate $set $learners "$work/batch.tsv"
  # 58 classes are 58 columns a solve: debian_deps alone would take longer than all the others.
  if [ $set != debian_deps ]; then evaluate $set $others "$work/others.tsv"; fi
done

# One row per set and share, a column a contestant, in percent.
batch_table() {  # file, which of its columns
  awk -F'\t' -v column="$2" '
    {
      row = $1 " | " ($4 ~ /^[0-9.]+$/ ? $4 * 100 " %" : $4); who = $2 " " $3
      if (!(row in rows)) { rows[row] = ++num_rows; row_name[num_rows] = row }
      if (!(who in seen)) { seen[who] = ++num_who; who_name[num_who] = who }
      x = 100 * $column; n[row, who]++; sum[row, who] += x; squares[row, who] += x * x
    }
    END {
      head = "| set | training |"; rule = "|---|---:|"
      for (w = 1; w <= num_who; ++w) {
        title = who_name[w]; sub(/wta num_trees=1$/, "wta, 1 tree", title); sub(/wta num_trees=/, "wta, ", title)
        head = head " " title " |"; gsub(/ +\|/, " |", head); rule = rule "---:|"
      }
      print head; print rule
      for (r = 1; r <= num_rows; ++r) {
        line = "| " row_name[r] " |"
        for (w = 1; w <= num_who; ++w) {
          k = n[row_name[r], who_name[w]]; mean = sum[row_name[r], who_name[w]] / k
          variance = k > 1 ? (squares[row_name[r], who_name[w]] - k * mean * mean) / (k - 1) : 0
          line = line sprintf(" %.1f ± %.1f |", mean, sqrt(variance > 0 ? variance : 0))
        }
        print line
      }
    }' "$1"
}

echo "### Error (%)"; echo
batch_table "$work/batch.tsv" 6
echo; echo "### Macro-F1 (%)"; echo
batch_table "$work/batch.tsv" 7
echo; echo "### Error of the other learners (%)"; echo
batch_table "$work/others.tsv" 6
echo; echo "### Macro-F1 of the other learners (%)"; echo
batch_table "$work/others.tsv" 7

# Few labels: a made graph, and the digits of MNIST with the sets of labels of Calder et al. 2020.
"$copse" graph generate block_model --nodes 100000 --classes 5 --degree-inside 9 --degree-outside 3 --weight-outside 0.5 \
  --quiet -o "$work/blocks.copse" --labels-out "$work/blocks.tsv"
"$copse" evaluate "$work/blocks.copse" --labels "$work/blocks.tsv" --train 0.001,0.01 --splits 5 --learners $few --quiet |
  awk 'NR > 1 { print "block model\t" $0 }' > "$work/few.tsv"
if [ -e "$data/mnist/points.npy.zst" ]; then
  "$copse" graph build "$data/mnist/points.npy.zst" --k 10 --method exact --quiet -o "$work/mnist.copse"
  awk -F'\t' 'split($2, nodes, " ") ~ /^(10|20|50)$/' "$data/mnist/label_sets.tsv" > "$work/sets.tsv"
  "$copse" evaluate "$work/mnist.copse" --labels "$data/mnist/labels.tsv" --sets "$work/sets.tsv" --splits 5 \
    --learners $few --quiet | awk 'NR > 1 { print "mnist\t" $0 }' >> "$work/few.tsv"
fi
echo; echo "### Error with few labels (%)"; echo
batch_table "$work/few.tsv" 6

echo; echo "### Online accuracy"; echo
echo "| set | labels | wta, 101 trees | seconds a game | majority_vote |"
echo "|---|---:|---:|---:|---:|"
for set in citeseer cora polblogs pubmed; do
  "$copse" evaluate "$(graph_of $set)" --labels "$data/$set/labels.tsv" --learners wta,majority_vote --num-trees 101 \
    --online --largest-component --orders "$splits" --quiet |
    awk -F'\t' -v set=$set '
      NR > 1 { k[$1]++; x = 1 - $6; sum[$1] += x; squares[$1] += x * x; seconds[$1] += $7; trials = $4 }
      function shown(who,   mean, variance) {
        mean = sum[who] / k[who]; variance = k[who] > 1 ? (squares[who] - k[who] * mean * mean) / (k[who] - 1) : 0
        return sprintf("%.3f ± %.3f", mean, sqrt(variance > 0 ? variance : 0))
      }
      END { printf "| %s | %d | %s | %.2f | %s |\n", set, trials, shown("wta"), seconds["wta"] / k["wta"], shown("majority_vote") }'
done
