// SPDX-License-Identifier: Apache-2.0
#include "support/byte_source.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "copse/support/error.hpp"
#include "copse/support/random.hpp"

namespace copse {
namespace {

struct TempDir {
  TempDir() {
    std::string pattern = testing::TempDir() + "copse_bytes_XXXXXX";
    path = mkdtemp(pattern.data());
  }
  ~TempDir() { std::filesystem::remove_all(path); }
  std::string operator/(const std::string& name) const { return path + "/" + name; }
  std::string path;
};

void save(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

std::string load(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// The real program makes the file, so that our reading is not checked against our own writing.
std::string compressed(const TempDir& dir, const std::string& tool, const std::string& bytes) {
  save(dir / "plain", bytes);
  const std::string command = tool + " -c < " + (dir / "plain") + " > " + (dir / "packed") + " 2>/dev/null";
  if (std::system(command.c_str()) != 0) return {};
  return load(dir / "packed");
}

std::string all_lines(ByteSource source, std::size_t size) {
  std::string text;
  for (;;) {
    const auto block = source.next_lines(size);
    if (block.empty()) return text;
    text.append(block.data(), block.size());
  }
}

std::string random_text(std::uint64_t index, std::size_t num_lines, std::uint64_t longest) {
  Stream stream(1, Purpose::test, index);
  std::string text;
  for (std::size_t i = 0; i < num_lines; ++i) {
    for (std::uint64_t k = stream.below(longest + 1); k > 0; --k)
      text += static_cast<char>('a' + stream.below(20));
    text += '\n';
  }
  return text;
}

const char* const kTools[] = {"gzip", "zstd -q", "xz", "bzip2"};

TEST(ByteSource, blocks_end_at_line_ends_and_join_to_the_file) {
  const TempDir dir;
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    SCOPED_TRACE(seed);
    std::string text = random_text(seed, 500, seed % 2 == 0 ? 12 : 300);
    if (seed % 4 < 2) text.pop_back();  // no line end at the end of the file
    save(dir / "f", text);
    for (const std::size_t size : {1, 7, 64, 1000, 1 << 20}) {
      ByteSource source = ByteSource::open(dir / "f");
      std::string joined;
      for (auto block = source.next_lines(size); !block.empty(); block = source.next_lines(size)) {
        joined.append(block.data(), block.size());
        EXPECT_TRUE(block.back() == '\n' || joined.size() == text.size());
      }
      EXPECT_EQ(joined, text);
    }
  }
}

TEST(ByteSource, reads_what_the_compression_programs_write) {
  const TempDir dir;
  const std::string text = random_text(1, 30'000, 40) + std::string(5000, 'x') + "\nlast line without end";
  for (const std::string tool : kTools) {
    SCOPED_TRACE(tool);
    const std::string packed = compressed(dir, tool, text);
    ASSERT_FALSE(packed.empty()) << "the program is missing; packages.txt lists it";
    EXPECT_EQ(all_lines(ByteSource::open(dir / "packed"), 1000), text);
    EXPECT_EQ(all_lines(ByteSource::from_memory("m", packed), 1 << 20), text);
    ByteSource source = ByteSource::open(dir / "packed");
    const auto first = source.peek();
    EXPECT_EQ(std::string(first.begin(), first.end()), text.substr(0, 512));
    const auto rest = source.rest();
    EXPECT_EQ(std::string(rest.begin(), rest.end()), text);
  }
}

TEST(ByteSource, reads_all_members_of_a_concatenated_file) {
  const TempDir dir;
  const std::string a = random_text(2, 1000, 30), b = random_text(3, 2000, 30);
  for (const std::string tool : kTools) {
    SCOPED_TRACE(tool);
    const std::string packed = compressed(dir, tool, a) + compressed(dir, tool, b) + compressed(dir, tool, a);
    EXPECT_EQ(all_lines(ByteSource::from_memory("m", packed), 4096), a + b + a);
  }
}

TEST(ByteSource, an_empty_compressed_file_is_empty) {
  const TempDir dir;
  for (const std::string tool : kTools) {
    SCOPED_TRACE(tool);
    EXPECT_EQ(all_lines(ByteSource::from_memory("m", compressed(dir, tool, "")), 100), "");
  }
}

TEST(ByteSource, a_compressed_file_cut_anywhere_is_an_error) {
  const TempDir dir;
  for (int k = 0; k < 8; ++k) {
    const std::string tool = kTools[k % 4];
    SCOPED_TRACE(tool);
    const std::string packed = compressed(dir, tool, k < 4 ? random_text(4, 300, 30) : "");
    for (std::size_t length = 10; length < packed.size(); length += length + 40 < packed.size() ? 37 : 1) {
      SCOPED_TRACE(length);
      try {
        all_lines(ByteSource::from_memory("edges.gz", std::span(packed).first(length)), 1 << 20);
        ADD_FAILURE() << "read " << length << " of " << packed.size() << " bytes without an error";
      } catch (const InputError& error) {
        EXPECT_EQ(error.where(), "edges.gz");
        EXPECT_NE(error.problem().find("cut short or damaged"), std::string::npos) << error.what();
        EXPECT_FALSE(error.remedy().empty());
      }
    }
  }
}

TEST(ByteSource, a_damaged_compressed_file_is_an_error) {
  const TempDir dir;
  const std::string text = random_text(5, 3000, 30);
  for (const std::string tool : kTools) {
    SCOPED_TRACE(tool);
    std::string packed = compressed(dir, tool, text);
    packed[packed.size() / 2] = static_cast<char>(packed[packed.size() / 2] ^ 0x55);
    EXPECT_THROW(all_lines(ByteSource::from_memory("m", packed), 1 << 20), InputError);
  }
}

TEST(ByteSource, a_wrong_checksum_or_length_at_the_end_is_an_error) {
  const TempDir dir;
  const std::string text = random_text(8, 300, 30);
  for (const std::string tool : kTools) {
    SCOPED_TRACE(tool);
    const std::string packed = compressed(dir, tool, text);
    for (std::size_t back = 1; back <= 8; ++back) {  // gzip: the length, and before it the checksum
      SCOPED_TRACE(back);
      std::string changed = packed;
      changed[packed.size() - back] = static_cast<char>(changed[packed.size() - back] ^ 0x41);
      EXPECT_THROW(all_lines(ByteSource::from_memory("m", changed), 1 << 20), InputError);
      EXPECT_THROW(all_lines(ByteSource::from_memory("m", changed + packed), 1 << 20), InputError);
      EXPECT_THROW(all_lines(ByteSource::from_memory("m", packed + changed), 1 << 20), InputError);
    }
  }
}

TEST(ByteSource, something_else_behind_the_compressed_data_is_an_error) {
  const TempDir dir;
  const std::string text = random_text(9, 300, 30);
  for (const std::string tool : kTools) {
    SCOPED_TRACE(tool);
    const std::string packed = compressed(dir, tool, text);
    const std::string start = packed.substr(0, 5);  // of another member, which is then cut short
    for (const std::string& behind : {std::string("x"), std::string("and some words"), start}) {
      SCOPED_TRACE(behind);
      EXPECT_THROW(all_lines(ByteSource::from_memory("m", packed + behind), 1 << 20), InputError);
      save(dir / "f", packed + packed + behind);
      EXPECT_THROW(all_lines(ByteSource::open(dir / "f"), 1000), InputError);
    }
  }
  // As gzip itself: what fills up the last block of a tape.
  const std::string padded = compressed(dir, "gzip", text) + std::string(300, '\0');
  EXPECT_EQ(all_lines(ByteSource::from_memory("m", padded), 1 << 20), text);
}

TEST(ByteSource, a_thread_that_decompresses_ahead_gives_the_same_bytes_and_errors) {
  const TempDir dir;
  const std::string text = random_text(10, 150'000, 120);  // several of its blocks
  for (const std::string tool : {"gzip", "zstd -q"}) {
    SCOPED_TRACE(tool);
    const std::string packed = compressed(dir, tool, text);
    for (const int threads : {1, 2}) {
      SCOPED_TRACE(threads);
      const Execution execution{.threads = threads};
      save(dir / "f", packed + packed);
      EXPECT_EQ(all_lines(ByteSource::open(dir / "f", execution), 1 << 16), text + text);
      ByteSource source = ByteSource::open(dir / "f", execution);
      source.next_lines(100);
      source.rewind();
      source.next_lines(100);  // and thrown away with most of it unread
      save(dir / "f", packed.substr(0, packed.size() - 1));
      EXPECT_THROW(all_lines(ByteSource::open(dir / "f", execution), 1 << 16), InputError);
    }
  }
}

TEST(ByteSource, a_pipe_reads_like_a_file_compressed_or_not) {
  const TempDir dir;
  const std::string text = random_text(6, 20'000, 60);
  for (const std::string tool : {"cat", "gzip", "zstd -q"}) {
    SCOPED_TRACE(tool);
    const std::string bytes = tool == "cat" ? text : compressed(dir, tool, text);
    const std::string fifo = dir / ("fifo" + std::to_string(tool.size()));
    ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
    std::thread writer([&] { save(fifo, bytes); });
    EXPECT_EQ(all_lines(ByteSource::open(fifo), 5000), text);
    writer.join();
  }
}

TEST(ByteSource, waiting_for_a_pipe_ends_when_the_call_is_cancelled) {
  struct Soon : Progress {
    mutable std::atomic<int> num_asked = 0;
    void report(std::string_view, std::uint64_t, std::uint64_t) override {}
    bool cancelled() const override { return ++num_asked > 3; }
  };
  const TempDir directory;
  const std::string pipe = directory / "pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  Soon nobody_writes;
  EXPECT_THROW(ByteSource::open(pipe, {1, 1, &nobody_writes}), Cancelled);
  const int writer = ::open(pipe.c_str(), O_RDWR);
  ASSERT_EQ(::write(writer, "ab", 2), 2);
  Soon stops_in_the_middle;
  EXPECT_THROW(ByteSource::open(pipe, {1, 1, &stops_in_the_middle}).next_lines(10), Cancelled);
  ::close(writer);
}

TEST(ByteSource, a_line_longer_than_the_block_comes_whole) {
  const TempDir dir;
  const std::string text = "a\n" + std::string(100'000, 'b') + "\nc\n";
  for (const std::string tool : kTools) {
    const std::string packed = compressed(dir, tool, text);
    ByteSource source = ByteSource::from_memory("m", packed);
    source.next_lines(2);
    std::string longest;
    for (auto block = source.next_lines(10); !block.empty(); block = source.next_lines(10))
      if (block.size() > longest.size()) longest.assign(block.data(), block.size());
    EXPECT_NE(longest.find(std::string(100'000, 'b') + "\n"), std::string::npos);
  }
}

TEST(ByteSource, rest_after_some_lines_is_what_is_left_and_share_keeps_it) {
  const TempDir dir;
  const std::string text = random_text(7, 1000, 30);
  for (const std::string tool : {"cat", "gzip"}) {
    const std::string bytes = tool == std::string("cat") ? text : compressed(dir, tool, text);
    save(dir / "f", bytes);
    std::shared_ptr<const void> owner;
    std::span<const char> rest;
    std::string head;
    {
      ByteSource source = ByteSource::open(dir / "f");
      const auto block = source.next_lines(100);
      head.assign(block.data(), block.size());
      rest = source.rest();
      owner = source.share();
    }
    EXPECT_EQ(head + std::string(rest.begin(), rest.end()), text);
  }
}

void expect_input_error(const std::string& path, const std::string& part) {
  try {
    ByteSource::open(path);
    ADD_FAILURE() << "no error for " << path;
  } catch (const InputError& error) {
    EXPECT_EQ(error.where(), path);
    EXPECT_NE(error.problem().find(part), std::string::npos) << error.what();
    EXPECT_FALSE(error.remedy().empty());
  }
}

TEST(ByteSource, a_missing_file_a_directory_and_an_unreadable_file_say_what_to_do) {
  const TempDir dir;
  expect_input_error(dir / "none", "no such file");
  expect_input_error(dir.path, "directory");
  save(dir / "secret", "x");
  ASSERT_EQ(chmod((dir / "secret").c_str(), 0), 0);
  if (geteuid() != 0) expect_input_error(dir / "secret", "permission denied");
}

TEST(ByteSource, an_empty_file_and_empty_memory_are_empty) {
  const TempDir dir;
  save(dir / "f", "");
  EXPECT_EQ(all_lines(ByteSource::open(dir / "f"), 10), "");
  EXPECT_TRUE(ByteSource::open(dir / "f").peek().empty());
  EXPECT_TRUE(ByteSource::from_memory("m", {}).rest().empty());
}

TEST(ByteSource, a_signal_does_not_end_reading) {
  struct sigaction action {
  }, before{};
  action.sa_handler = [](int) {};  // without SA_RESTART: read() is interrupted
  ASSERT_EQ(sigaction(SIGUSR1, &action, &before), 0);
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  std::string got;
  std::thread reader([&] {
    try {
      got = all_lines(ByteSource::open("/dev/fd/" + std::to_string(ends[0])), 100);
    } catch (const Error& error) {
      got = error.what();
    }
  });
  for (int i = 0; i < 20; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    pthread_kill(reader.native_handle(), SIGUSR1);
  }
  EXPECT_EQ(write(ends[1], "a b\n", 4), 4);
  close(ends[1]);
  reader.join();
  close(ends[0]);
  sigaction(SIGUSR1, &before, nullptr);
  EXPECT_EQ(got, "a b\n");
}

TEST(ByteSource, text_that_begins_like_bzip2_is_text) {
  EXPECT_EQ(all_lines(ByteSource::from_memory("m", std::string_view("BZh91 a\nb c\n")), 100),
            "BZh91 a\nb c\n");
}

TEST(ByteSource, a_file_can_be_read_again_from_its_beginning_and_a_pipe_cannot) {
  const TempDir dir;
  const std::string text = random_text(77, 3000, 40);
  const auto check = [&](ByteSource source) {
    ASSERT_TRUE(source.can_rewind());
    for (const std::size_t blocks : {0, 1, 5}) {
      for (std::size_t i = 0; i < blocks; ++i) source.next_lines(900);
      source.rewind();
    }
    EXPECT_EQ(all_lines(std::move(source), 1000), text);
  };
  save(dir / "f", text);
  check(ByteSource::open(dir / "f"));
  check(ByteSource::from_memory("m", text));
  for (const char* tool : kTools) {
    const std::string packed = compressed(dir, tool, text);
    if (packed.empty()) continue;
    save(dir / "g", packed);
    check(ByteSource::open(dir / "g"));
  }
  ASSERT_EQ(mkfifo((dir / "pipe").c_str(), 0600), 0);
  std::thread writer([&] { save(dir / "pipe", text); });
  ByteSource pipe = ByteSource::open(dir / "pipe");
  EXPECT_FALSE(pipe.can_rewind());
  EXPECT_EQ(all_lines(std::move(pipe), 1000), text);
  writer.join();
}

TEST(ByteSource, a_file_that_is_cut_short_while_it_is_read_is_an_error) {
  const TempDir dir;
  const std::string text = random_text(78, 60'000, 40);  // more than is read at once, also compressed
  for (const std::string tool : {"cat", "gzip", "zstd -q"}) {
    for (const std::size_t left : {std::size_t{0}, std::size_t{5000}}) {
      SCOPED_TRACE(tool);
      save(dir / "f", tool == "cat" ? text : compressed(dir, tool, text));
      ByteSource source = ByteSource::open(dir / "f");
      source.peek();
      std::filesystem::resize_file(dir / "f", left);
      try {
        all_lines(std::move(source), 1000);
        ADD_FAILURE() << "no error";
      } catch (const InputError& error) {
        EXPECT_EQ(error.where(), dir / "f");
        EXPECT_EQ(error.problem(), "the file was cut short while it was being read");
      }
    }
  }
}

TEST(ByteSource, a_file_that_grows_is_read_as_it_was_when_opened) {
  const TempDir dir;
  save(dir / "f", "a\nb\n");
  ByteSource source = ByteSource::open(dir / "f");
  save(dir / "f", "a\nb\nc\n");
  EXPECT_EQ(all_lines(std::move(source), 1), "a\nb\n");
}

// Maps a file, cuts it short, and looks at its first byte.
int look_at_a_cut_file(const TempDir& dir) {
  save(dir / "f", std::string(10'000, 'x'));
  ByteSource source = ByteSource::open(dir / "f");
  const std::span<const char> bytes = source.rest();
  std::filesystem::resize_file(dir / "f", 0);
  return *static_cast<const volatile char*>(bytes.data());
}

TEST(ByteSourceDeathTest, a_mapped_file_that_is_cut_short_is_named_before_the_end) {
  const TempDir dir;
  const std::string message =
      "/f: the file was cut short, or its disk failed, while it was in use\n  run again";
  EXPECT_DEATH(look_at_a_cut_file(dir), message);
  EXPECT_EXIT(
      {
        exit_when_a_file_in_use_is_cut(2);
        look_at_a_cut_file(dir);
      },
      testing::ExitedWithCode(2), message);
}

TEST(ByteSourceDeathTest, a_handler_of_the_programs_own_still_hears_of_bus_errors) {
  const TempDir dir;
  EXPECT_EXIT(
      {
        signal(SIGBUS, [](int) { _exit(7); });
        look_at_a_cut_file(dir);
      },
      testing::ExitedWithCode(7), "was cut short");
  EXPECT_EXIT(
      {
        signal(SIGBUS, [](int) { _exit(7); });
        ByteSource::open(dir / "f").rest();
        raise(SIGBUS);  // not about a file
      },
      testing::ExitedWithCode(7), "^$");
}

}  // namespace
}  // namespace copse
