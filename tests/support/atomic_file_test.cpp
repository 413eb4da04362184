// SPDX-License-Identifier: Apache-2.0
#include "support/atomic_file.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <functional>

#include "copse/support/error.hpp"
#include "oracle/temporary_directory.hpp"

namespace copse {
namespace {

namespace fs = std::filesystem;
using oracle::contents;
using oracle::TemporaryDirectory;
using Names = std::vector<std::string>;

// Bytes that do not repeat, so that a lost or doubled block shows.
std::string sample(std::size_t size) {
  std::string bytes;
  for (std::uint64_t x = 1; bytes.size() < size; x = x * 6364136223846793005u + 1442695040888963407u) {
    bytes += std::to_string(x);
    bytes += '\n';
  }
  bytes.resize(size);
  return bytes;
}

std::string error_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

TEST(AtomicFile, nothing_is_there_before_commit_and_all_of_it_after) {
  const TemporaryDirectory directory;
  const std::string bytes = sample(3 << 20);
  AtomicFile file(directory.file("out.tsv"));
  for (std::size_t i = 0; i < bytes.size(); i += 777) file.write(std::string_view(bytes).substr(i, 777));
  EXPECT_FALSE(fs::exists(directory.file("out.tsv")));
  file.commit();
  EXPECT_EQ(contents(directory.file("out.tsv")), bytes);
  EXPECT_EQ(directory.listing(), Names{"out.tsv"});
}

TEST(AtomicFile, what_is_published_stays_without_commit) {
  const TemporaryDirectory directory;
  oracle::put(directory.file("out.tsv"), "old");
  {
    AtomicFile file(directory.file("out.tsv"));
    file.write("one\n");
    EXPECT_EQ(contents(directory.file("out.tsv")), "old");
    file.publish();
    EXPECT_EQ(contents(directory.file("out.tsv")), "one\n");
    file.write("two\n");
    file.publish();
    file.write("lost\n");
  }
  EXPECT_EQ(contents(directory.file("out.tsv")), "one\ntwo\n");
  EXPECT_EQ(directory.listing(), Names{"out.tsv"});
}

TEST(AtomicFile, without_commit_the_old_file_stays_and_no_other_one) {
  const TemporaryDirectory directory;
  oracle::put(directory.file("out.tsv"), "old");
  {
    AtomicFile file(directory.file("out.tsv"));
    file.write(sample(2 << 20));
  }
  EXPECT_EQ(contents(directory.file("out.tsv")), "old");
  EXPECT_EQ(directory.listing(), Names{"out.tsv"});
}

// Begins to write `path` in another process, which then does `end`.
void write_in_a_child(const std::string& path, void (*end)()) {
  const pid_t child = fork();
  if (child == 0) {
    AtomicFile file(path);
    file.write(sample(2 << 20));
    end();
    _exit(0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
}

TEST(AtomicFile, what_a_killed_writer_left_is_removed_by_the_next_one_and_a_live_one_is_not) {
  const TemporaryDirectory directory;
  AtomicFile live(directory.file("live"));
  live.write("here");
  write_in_a_child(directory.file("killed"), [] { raise(SIGKILL); });
  oracle::put(directory.file(".copse-mine.txt"), "not one of ours");
  ASSERT_EQ(directory.listing().size(), 3U);  // two unfinished files among them
  AtomicFile(directory.file("next")).commit();
  live.commit();
  Names names = directory.listing();
  std::sort(names.begin(), names.end());
  EXPECT_EQ(names, (Names{".copse-mine.txt", "live", "next"}));
  EXPECT_EQ(contents(directory.file("live")), "here");
}

TEST(AtomicFile, a_signal_handler_can_remove_what_is_unfinished_and_a_child_only_its_own) {
  const TemporaryDirectory directory;
  write_in_a_child(directory.file("out"), [] { remove_unfinished_files(); });
  EXPECT_EQ(directory.listing(), Names{});
  AtomicFile ours(directory.file("ours"));
  write_in_a_child(directory.file("out"), [] { remove_unfinished_files(); });
  ours.commit();
  EXPECT_EQ(directory.listing(), Names{"ours"});
}

TEST(AtomicFile, a_new_file_has_the_permissions_of_the_umask_and_an_old_one_keeps_its_own) {
  const TemporaryDirectory directory;
  const mode_t before = umask(027);
  AtomicFile(directory.file("new")).commit();
  umask(before);
  EXPECT_EQ(fs::status(directory.file("new")).permissions(), fs::perms(0640));
  fs::permissions(directory.file("new"), fs::perms(0604));
  AtomicFile(directory.file("new")).commit();
  EXPECT_EQ(fs::status(directory.file("new")).permissions(), fs::perms(0604));
}

TEST(AtomicFile, two_writers_of_one_file_do_not_mix) {
  const TemporaryDirectory directory;
  AtomicFile first(directory.file("out")), second(directory.file("out"));
  first.write("first");
  second.write("second");
  second.commit();
  first.commit();
  EXPECT_EQ(contents(directory.file("out")), "first");
  EXPECT_EQ(directory.listing(), Names{"out"});
}

TEST(AtomicFile, a_link_stays_a_link_and_its_file_is_replaced) {
  const TemporaryDirectory directory;
  fs::create_directory(directory.file("there"));
  oracle::put(directory.file("there/real"), "old");
  fs::create_symlink("there/real", directory.file("link"));
  AtomicFile file(directory.file("link"));
  file.write("new");
  EXPECT_EQ(contents(directory.file("link")), "old");
  file.commit();
  EXPECT_TRUE(fs::is_symlink(directory.file("link")));
  EXPECT_EQ(contents(directory.file("there/real")), "new");
  fs::create_symlink("nowhere", directory.file("dangling"));
  AtomicFile dangling(directory.file("dangling"));
  dangling.write("made");
  dangling.commit();
  EXPECT_EQ(contents(directory.file("nowhere")), "made");
}

TEST(AtomicFile, a_pipe_gets_the_bytes_as_they_come) {
  const TemporaryDirectory directory;
  const std::string pipe = directory.file("pipe"), copy = directory.file("copy");
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  ASSERT_EQ(std::system(("cat " + pipe + " > " + copy + " &").c_str()), 0);
  const std::string bytes = sample(300000);
  AtomicFile file(pipe);
  file.write(bytes);
  file.commit();
  for (int i = 0; i < 500 && fs::file_size(copy) < bytes.size(); ++i) usleep(10000);
  EXPECT_EQ(contents(copy), bytes);
  EXPECT_TRUE(fs::is_fifo(pipe));
}

TEST(AtomicFile, devices_are_written_and_stay_devices) {
  AtomicFile file("/dev/null");
  file.write(sample(2 << 20));
  file.commit();
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
}

TEST(AtomicFile, compressed_files_read_back_with_the_tools_of_the_system) {
  const TemporaryDirectory directory;
  const std::string bytes = sample(300000);
  for (const std::string tool : {"gzip", "zstd", "xz", "bzip2"}) {
    const std::string suffix = tool == "gzip"   ? ".gz"
                               : tool == "zstd" ? ".zst"
                               : tool == "xz"   ? ".xz"
                                                : ".bz2";
    SCOPED_TRACE(tool);
    if (std::system((tool + " --version >/dev/null 2>&1").c_str()) != 0)
      GTEST_SKIP() << tool << " is not installed";
    const std::string path = directory.file("out" + suffix), plain = directory.file("plain");
    for (const std::string& body : {bytes, std::string("a\tb\n"), std::string()}) {
      AtomicFile file(path);
      for (std::size_t i = 0; i < body.size(); i += 7001) file.write(std::string_view(body).substr(i, 7001));
      file.commit();
      ASSERT_EQ(std::system((tool + " -d -c " + path + " > " + plain).c_str()), 0);
      EXPECT_EQ(contents(plain), body);
    }
    AtomicFile raw(path, false);
    raw.write("as it is");
    raw.commit();
    EXPECT_EQ(contents(path), "as it is");
  }
}

TEST(AtomicFile, the_same_bytes_give_the_same_gzip_file_at_any_time) {
  const TemporaryDirectory directory;
  AtomicFile out(directory.file("a.gz"));
  out.write("a\tb\n");
  out.commit();
  // RFC 1952: bytes 4 to 7 hold the time of writing, 0 for none.
  EXPECT_EQ(contents(directory.file("a.gz")).substr(4, 4), std::string(4, '\0'));
}

TEST(AtomicFile, a_missing_directory_is_named_with_what_to_do) {
  EXPECT_EQ(error_of([] { AtomicFile("/no/such/place/out.tsv"); }),
            "/no/such/place/out.tsv: cannot create a file in /no/such/place/: No such file or directory\n"
            "  create the directory first, or check the path");
  EXPECT_EQ(error_of([] { AtomicFile("/"); }), "/: is a directory\n  give the name of a file to write");
  EXPECT_EQ(error_of([] { AtomicFile(""); }),
            "output: the name of the file to write is empty\n  give a path, or - for standard output");
}

TEST(AtomicFile, a_directory_without_permission_is_refused) {
  const TemporaryDirectory directory;
  // Root may write anywhere except where the kernel makes the files up.
  const std::string path = geteuid() == 0 ? "/proc/self/fdinfo/out.tsv" : directory.file("out.tsv");
  fs::permissions(directory.path(), fs::perms(0500));
  const std::string error = error_of([&] { AtomicFile file(path); });
  fs::permissions(directory.path(), fs::perms(0700));
  EXPECT_NE(error.find(path + ": cannot "), std::string::npos) << error;
  EXPECT_NE(error.find("\n  "), std::string::npos) << error;
}

TEST(AtomicFile, a_full_device_is_told_plain_or_compressed) {
  for (const bool at_once : {true, false}) {
    const std::string error = error_of([&] {
      AtomicFile file("/dev/full");
      file.write(at_once ? sample(2 << 20) : "a");
      file.commit();
    });
    EXPECT_EQ(error,
              "/dev/full: cannot write: No space left on device\n"
              "  free some space or write to another disk; nothing was left behind");
  }
}

TEST(AtomicFile, a_full_disk_is_told_and_leaves_the_old_file_and_nothing_else) {
  const TemporaryDirectory directory;
  if (mount("copse-test", directory.path().c_str(), "tmpfs", 0, "size=64k") != 0) {
    GTEST_SKIP() << "mounting a small tmpfs is not permitted here; /dev/full is tested instead";
  }
  for (const std::string name : {"out.tsv", "out.tsv.gz", "out.tsv.zst", "out.tsv.xz", "out.tsv.bz2"}) {
    oracle::put(directory.file(name), "old");
    EXPECT_EQ(error_of([&] {
                AtomicFile file(directory.file(name));
                file.write(sample(1 << 20));
                file.commit();
              }),
              directory.file(name) +
                  ": cannot write: No space left on device\n"
                  "  free some space or write to another disk; nothing was left behind");
    EXPECT_EQ(contents(directory.file(name)), "old");
    EXPECT_EQ(directory.listing(), Names{name});
    fs::remove(directory.file(name));
  }
  EXPECT_EQ(umount(directory.path().c_str()), 0);
}

TEST(AtomicFile, a_reader_that_went_away_is_told) {
  const auto before = signal(SIGPIPE, SIG_IGN);
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  close(ends[0]);
  // The pipe stands in for standard output.
  const int saved = dup(STDOUT_FILENO);
  fflush(stdout);
  dup2(ends[1], STDOUT_FILENO);
  const std::string error = error_of([] {
    AtomicFile file("-");
    file.write("a\tb\n");
    file.commit();
  });
  dup2(saved, STDOUT_FILENO);
  close(saved);
  close(ends[1]);
  signal(SIGPIPE, before);
  EXPECT_EQ(error,
            "standard output: cannot write: Broken pipe\n"
            "  the program that was reading the output ended before all of it was written");
}

}  // namespace
}  // namespace copse
