// SPDX-License-Identifier: Apache-2.0
#include "checkpoint.hpp"

#include <sys/statvfs.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "copse/support/error.hpp"
#include "support/atomic_file.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace copse::cli {
namespace {

struct Header {
  char magic[8] = {'c', 'o', 'p', 's', 'e', '-', 'r', '1'};
  Checkpoint::Run run;
  std::uint32_t trees = 0, num_halves = 0;
};

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// The columns of some edges, each behind its length.
template <class Edges, class Column>
void for_each_column(Edges& edges, Column&& column) {
  column(edges.u);
  column(edges.v);
  column(edges.weight);
}

}  // namespace

Checkpoint::Checkpoint(const std::string& path, const Run& run, std::uint64_t bytes)
    : path_(path), run_(run) {
  std::string directory = std::filesystem::path(path).parent_path().string();
  if (directory.empty()) directory = ".";
  struct statvfs disk {};
  if (::statvfs(directory.c_str(), &disk) != 0)
    throw InputError(directory, std::string("no file can be put there: ") + std::strerror(errno),
                     "name another file with --resume FILE");
  std::error_code none;
  const std::uintmax_t old = std::filesystem::file_size(path, none);
  const std::uint64_t needed = 2 * bytes - (none ? 0 : std::min<std::uint64_t>(old, bytes));
  const std::uint64_t free = static_cast<std::uint64_t>(disk.f_bavail) * disk.f_frsize;
  if (free < needed)
    throw InputError(directory,
                     "what the run may be resumed from takes " + with_commas(needed) +
                         " bytes more there, and " + with_commas(free) + " are free",
                     "free some space, or name another place with --resume FILE");
}

Checkpoint::Progress Checkpoint::read(ForestCommittee& committee) const {
  Progress progress;
  std::ifstream file(path_, std::ios::binary);
  if (!file) {
    if (errno == ENOENT) return progress;
    throw InputError(path_, std::string("cannot be read: ") + std::strerror(errno),
                     "name another file with --resume FILE");
  }
  const InputError damaged(path_, "is not what --resume writes, or damaged",
                           "remove it to begin anew, or name another file");
  XXH3_state_t hash;
  XXH3_64bits_reset(&hash);
  const auto take = [&](std::span<std::byte> bytes) {
    file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    if (!file) throw damaged;
    XXH3_64bits_update(&hash, bytes.data(), bytes.size());
  };
  Header header;
  take(std::as_writable_bytes(std::span(&header, 1)));
  if (std::memcmp(header.magic, Header{}.magic, sizeof header.magic) != 0) throw damaged;
  if (header.run != run_)
    throw InputError(path_,
                     std::string("is of another run: its ") +
                         (header.run.edges != run_.edges     ? "edges"
                          : header.run.labels != run_.labels ? "labels"
                                                             : "options, seed or version of copse") +
                         " were others",
                     "repeat the command as it was, remove the file to begin anew, or name another one");
  const auto room = static_cast<std::uint64_t>(std::filesystem::file_size(path_));
  for (const std::span<std::byte> part : committee.state()) take(part);
  progress.halves.resize(header.num_halves);
  for (KeptEdges& edges : progress.halves)
    for_each_column(edges, [&](auto& column) {
      std::uint64_t size = 0;
      take(std::as_writable_bytes(std::span(&size, 1)));
      if (size > room / sizeof(column[0])) throw damaged;
      column.resize(size);
      take(std::as_writable_bytes(std::span(column)));
    });
  const std::uint64_t expected = XXH3_64bits_digest(&hash);
  std::uint64_t found = 0;
  take(std::as_writable_bytes(std::span(&found, 1)));
  if (found != expected) throw damaged;
  progress.trees = header.trees;
  committee.resume(header.trees);
  return progress;
}

void Checkpoint::write(std::uint32_t trees, ForestCommittee& committee, std::uint32_t num_halves,
                       const ForestBuilder* builder) {
  const double start = now();
  if (start - written_at_ < 10 * took_) return;
  AtomicFile file(path_, false);
  XXH3_state_t hash;
  XXH3_64bits_reset(&hash);
  const auto put = [&](std::span<const std::byte> bytes) {
    file.write(bytes.data(), bytes.size());
    XXH3_64bits_update(&hash, bytes.data(), bytes.size());
  };
  const Header header{.run = run_, .trees = trees, .num_halves = num_halves};
  put(std::as_bytes(std::span(&header, 1)));
  for (const std::span<std::byte> part : committee.state()) put(part);
  for (std::uint32_t t = 0; t < num_halves; ++t)
    for_each_column(builder->edges(t), [&](const auto& column) {
      const std::uint64_t size = column.size();
      put(std::as_bytes(std::span(&size, 1)));
      put(std::as_bytes(std::span(column)));
    });
  const std::uint64_t digest = XXH3_64bits_digest(&hash);
  file.write(&digest, sizeof digest);
  file.commit();
  written_at_ = now();
  took_ = written_at_ - start;
}

}  // namespace copse::cli
