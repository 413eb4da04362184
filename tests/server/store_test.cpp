// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "server/event_store.hpp"
#include "server/graph_state.hpp"
#include "server/tokens.hpp"

namespace copse::server {
namespace {

class StoreTest : public testing::Test {
 protected:
  StoreTest() {
    directory_ = (std::filesystem::temp_directory_path() / ("copse_store_" + random_hex(8))).string();
    std::filesystem::create_directories(directory_);
  }
  ~StoreTest() override { std::filesystem::remove_all(directory_); }
  std::string path() const { return directory_ + "/graph.sqlite"; }
  static Event event(std::uint64_t seq, const std::string& id) {
    Event event;
    event.seq = seq;
    event.id = id;
    event.who = "ann";
    event.node = std::string("a\xff\"b", 4);  // any bytes
    event.label = "red";
    event.confidence = 0.1;
    return event;
  }
  std::string directory_;
};

TEST_F(StoreTest, what_was_appended_is_there_after_reopening) {
  {
    EventStore store(path());
    const std::vector<Event> events{event(1, "x"), event(2, "y")};
    store.append(events);
    store.set_meta("key", "value");
  }
  const EventStore store(path());
  EXPECT_EQ(store.last_seq(), 2);
  EXPECT_EQ(store.meta("key"), "value");
  const std::optional<Event> found = store.find("y");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->node, event(2, "y").node);
  EXPECT_EQ(found->label, "red");
  EXPECT_EQ(found->confidence, 0.1);
  EXPECT_FALSE(found->predicted);
  EXPECT_EQ(store.after(1, 10).size(), 1);
  EXPECT_EQ(store.before(3, 1).at(0).seq, 2);
}

TEST_F(StoreTest, a_batch_with_an_id_that_was_used_stores_nothing) {
  EventStore store(path());
  store.append(std::vector<Event>{event(1, "x")});
  EXPECT_THROW(store.append(std::vector<Event>{event(2, "y"), event(3, "x")}), Error);
  EXPECT_EQ(store.last_seq(), 1);
  store.append(std::vector<Event>{event(2, "y")});
  EXPECT_EQ(store.last_seq(), 2);
}

TEST_F(StoreTest, two_processes_cannot_serve_the_same_labels) {
  const EventStore store(path());
  EXPECT_THROW(EventStore{path()}, InputError);
}

TEST_F(StoreTest, files_that_are_damaged_or_foreign_are_refused) {
  std::ofstream(path()) << "this is no database, but long enough to be taken for one, perhaps "
                        << std::string(5000, 'x');
  EXPECT_THROW(EventStore{path()}, InputError);
}

TEST_F(StoreTest, a_snapshot_can_be_served_in_its_place) {
  EventStore store(path());
  store.append(std::vector<Event>{event(1, "x")});
  const std::string copy = directory_ + "/copy.sqlite";
  EXPECT_GT(store.back_up(copy), 0);
  const EventStore restored(copy);
  EXPECT_EQ(restored.last_seq(), 1);
  EXPECT_TRUE(restored.find("x"));
}

TEST_F(StoreTest, tokens_are_kept_as_hashes_and_found_again) {
  Tokens tokens(directory_);
  const std::string token = tokens.add("ann", "label");
  EXPECT_THROW(tokens.add("ann", "read"), UsageError);
  EXPECT_THROW(tokens.add("bob", "king"), UsageError);
  const Tokens again(directory_);
  ASSERT_TRUE(again.find(token));
  EXPECT_EQ(again.find(token)->role, Role::label);
  EXPECT_FALSE(again.find(token + "x"));
  EXPECT_FALSE(again.find(""));
  std::ifstream file(directory_ + "/tokens.tsv");
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  EXPECT_EQ(text.find(token), std::string::npos);
  EXPECT_EQ(
      std::filesystem::status(directory_ + "/tokens.tsv").permissions() & std::filesystem::perms::others_all,
      std::filesystem::perms::none);
}

TEST(Leases, end_by_themselves_and_are_renewed) {
  Leases leases(std::chrono::seconds(10));
  const Leases::Time start{};
  leases.take(1, 5, start);
  EXPECT_EQ(leases.held_by(1, start + std::chrono::seconds(9)), 5U);
  EXPECT_EQ(leases.num_others(5, 2, start), 1);
  EXPECT_EQ(leases.num_others(5, 1, start), 0);
  EXPECT_FALSE(leases.held_by(1, start + std::chrono::seconds(10)));
  leases.take(1, 5, start + std::chrono::seconds(9));
  EXPECT_EQ(leases.held_by(1, start + std::chrono::seconds(18)), 5U);
  leases.release(1);
  EXPECT_EQ(leases.num_held(start), 0);
}

TEST(ErrorCurve, counts_the_last_hundred_and_forgets_what_was_taken_back) {
  ErrorCurve curve;
  for (std::uint64_t seq = 1; seq <= 250; ++seq) curve.add(seq, seq <= 150);
  EXPECT_EQ(curve.points(500).size(), 250);
  EXPECT_NEAR(curve.points(500).back().error, 0.0, 1e-12);
  EXPECT_NEAR(curve.points(500)[199].error, 0.5, 1e-12);
  EXPECT_LE(curve.points(10).size(), 10);
  EXPECT_FALSE(curve.stop().hint);
  curve.remove(200);
  EXPECT_EQ(curve.points(500).size(), 249);
}

}  // namespace
}  // namespace copse::server
