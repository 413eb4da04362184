// SPDX-License-Identifier: Apache-2.0
#include "io/other_files.hpp"

#include <algorithm>

#include "copse/support/error.hpp"
#include "io/text.hpp"

namespace copse {
namespace {

constexpr std::string_view kZip{"PK\x03\x04", 4};
constexpr std::size_t kZipName = 30;  // of the first member, behind its header

std::string_view first_member(std::string_view first) {
  if (!first.starts_with(kZip) || first.size() < kZipName) return {};
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(first[i]); };
  return first.substr(kZipName, byte(26) + 256u * byte(27));
}

struct OtherFile {
  std::size_t at;  // where the bytes stand
  std::string_view bytes;
  const char* kind;
  const char* remedy;  // FILE stands for the file's name
};

constexpr char kPandas[] = "; or in Python give the DataFrame itself: copse.Graph(df)";
constexpr OtherFile kOtherFiles[] = {
    {0, "PAR1", "a Parquet file",
     "python3 -c \"import pandas; pandas.read_parquet('FILE').to_csv('edges.csv', index=False)\""},
    {0,
     {"ARROW1\0\0", 8},
     "an Arrow (Feather) file",
     "python3 -c \"import pandas; pandas.read_feather('FILE').to_csv('edges.csv', index=False)\""},
    {0, "FEA1", "a Feather file",
     "python3 -c \"import pandas; pandas.read_feather('FILE').to_csv('edges.csv', index=False)\""},
    {0,
     {"\xFF\xFF\xFF\xFF", 4},
     "an Arrow stream",
     "python3 -c \"import pyarrow.ipc as a; a.open_stream('FILE').read_pandas().to_csv('edges.csv', "
     "index=False)\""},
    {0,
     {"SQLite format 3\0", 16},
     "an SQLite database",
     "sqlite3 -header -csv 'FILE' 'SELECT * FROM edges' > edges.csv"},
    {8, "DUCK", "a DuckDB database", "duckdb -csv 'FILE' 'SELECT * FROM edges' > edges.csv"},
    {0, "\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1", "an old Excel or Office file",
     "python3 -c \"import pandas; pandas.read_excel('FILE').to_csv('edges.csv', index=False)\""},
    {0, "\x89HDF\r\n\x1A\n", "an HDF5 file",
     "python3 -c \"import pandas; pandas.read_hdf('FILE').to_csv('edges.csv', index=False)\""},
    {0, "\x80\x02", "a Python pickle", nullptr},
    {0, "\x80\x03", "a Python pickle", nullptr},
    {0, "\x80\x04", "a Python pickle", nullptr},
    {0, "\x80\x05", "a Python pickle", nullptr},
    {0, "%PDF-", "a PDF document",
     "copse reads tables of edges: pdftotext -layout 'FILE' edges.txt may find one in it"},
    {0, "\x93NUMPY", "a NumPy array",
     "an array of points becomes a graph with copse graph build; of edges: python3 -c \"import numpy; "
     "numpy.savetxt('edges.tsv', numpy.load('FILE'), fmt='%d', delimiter='\\t')\""},
};

std::string with_name(std::string remedy, const std::string& name) {
  for (std::size_t at = remedy.find("FILE"); at != std::string::npos;
       at = remedy.find("FILE", at + name.size()))
    remedy.replace(at, 4, name);
  return remedy;
}

[[noreturn]] void refuse(const std::string& name, const std::string& kind, const std::string& remedy) {
  const bool is_table = remedy.find("pandas") != std::string::npos;
  throw InputError{
      name, "this is " + kind + ", not text",
      (is_table ? "make a table of text: " : "") + with_name(remedy, name) + (is_table ? kPandas : "")};
}

void refuse_zip(std::string_view first, const std::string& name) {
  const std::string_view member = first_member(first);
  if (member.empty() || is_zip_of_arrays(first)) return;
  const bool is_excel = member == "[Content_Types].xml" || member.starts_with("xl/") ||
                        member.starts_with("_rels/") || member.starts_with("docProps/");
  if (is_excel)
    refuse(name, "an Excel file",
           "python3 -c \"import pandas; pandas.read_excel('FILE').to_csv('edges.csv', index=False)\"");
  refuse(name, "a ZIP archive", "unzip 'FILE', and give the file in it (" + quoted(member) + "?)");
}

// Texts that are no tables.
void refuse_markup(std::string_view first, const std::string& name) {
  constexpr std::size_t kEnough = 512;
  const std::size_t begin = first.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) return;
  const std::string text = lower_case(first.substr(begin, kEnough));
  if (text.starts_with("<!doctype html") || text.starts_with("<html"))
    throw InputError{name, "this is an HTML page, not a graph",
                     "a download may have ended at a page of the site: open it in a browser to see why"};
  if (text.starts_with("<?xml"))
    throw InputError{name, "this is XML, but neither GraphML nor GEXF is seen in its first lines",
                     "name the format: --format graphml or --format gexf"};
  const std::string_view line = std::string_view(text).substr(0, text.find('\n'));
  const bool is_dot = line.starts_with("digraph") || line.starts_with("graph") || line.starts_with("strict ");
  if (is_dot && line.find('{') != std::string_view::npos)
    throw InputError{name, "this is a DOT file of Graphviz",
                     with_name("gv2gml 'FILE' -o graph.gml makes GML of it, which copse reads", name)};
}

}  // namespace

bool is_zip_of_arrays(std::string_view first) { return first_member(first).ends_with(".npy"); }

void refuse_other_files(std::string_view first, const std::string& name) {
  if (first.starts_with("\xFF\xFE") || first.starts_with("\xFE\xFF"))
    throw InputError{
        name, "this is text in UTF-16, as Excel saves \"Unicode text\"",
        with_name("save it as \"CSV UTF-8\", or: iconv -f UTF-16 -t UTF-8 'FILE' > table.csv", name)};
  for (const OtherFile& other : kOtherFiles) {
    if (first.size() <= other.at || !first.substr(other.at).starts_with(other.bytes)) continue;
    if (other.remedy == nullptr)
      throw InputError{name,
                       std::string("this is ") + other.kind + ", which may run any program when it is opened",
                       "if you trust it: python3 -c \"import pickle, copse; copse.write_graph('graph.copse', "
                       "copse.Graph(pickle.load(open('" +
                           name + "', 'rb'))))\""};
    refuse(name, other.kind, other.remedy);
  }
  refuse_zip(first, name);
  refuse_markup(first, name);
}

}  // namespace copse
