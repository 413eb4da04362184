#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Prints the tables of docs/results.md as Markdown:  docs/results.sh build/copse path/to/data > tables.md
# DATA holds one folder a set (cora, citeseer, ...), each with edges.tsv or edges.tsv.zst and labels.tsv.
# A table is the mean and the standard deviation over the rows that `copse evaluate` prints; seed 1 throughout.
set -euo pipefail
export LC_ALL=C
copse=${1:?usage: docs/results.sh PROGRAM DATA}
data=${2:?usage: docs/results.sh PROGRAM DATA}
splits=${SPLITS:-10}
learners=wta:num_trees=1,wta:num_trees=11,wta:num_trees=31,wta:num_trees=101,majority_vote

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

graph_of() {
  if [ -e "$data/$1/edges.tsv" ]; then echo "$data/$1/edges.tsv"; else echo "$data/$1/edges.tsv.zst"; fi
}

for set in cora citeseer pubmed polblogs krogan rcv1_10k debian_deps; do
  several=()
  if [ "$set" = krogan ]; then several=(--multi-label); fi
  echo "$set" >&2
  "$copse" evaluate "$(graph_of $set)" --labels "$data/$set/labels.tsv" --learners $learners \
    --train 0.05,0.1,0.25 --splits "$splits" --quiet "${several[@]}" |
    awk -v set=$set 'NR > 1 { print set "\t" $0 }' >> "$work/batch.tsv"
done

# A row a set and share, a column a contestant, in percent.
batch_table() {  # which column of batch.tsv
  awk -F'\t' -v column="$1" '
    {
      row = $1 " | " $4 * 100 " %"; who = $2 " " $3
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
    }' "$work/batch.tsv"
}

echo "### Error (%)"; echo
batch_table 6
echo; echo "### Macro-F1 (%)"; echo
batch_table 7

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
