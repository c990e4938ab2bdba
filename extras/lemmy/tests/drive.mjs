// Drives a site with the official client of Lemmy's API. Prints what each call answered, or the word of its refusal,
// as JSON: [[name of the method, number, answer], …] and {name: word}.
import { LemmyHttp } from "lemmy-js-client";

const [site, told] = process.argv.slice(2);
const { talked, closed, locked, reply, alice, bob } = JSON.parse(told);
const answers = [], refusals = {};

function client(token) {
  const http = new LemmyHttp(site, token ? { headers: { Authorization: `Bearer ${token}` } } : {});
  return new Proxy(http, {
    get: (own, name) => async (form) => {
      const answer = await own[name](form).catch((error) => {
        throw Object.assign(error, { call: name, form });  // node prints them
      });
      answers.push([name, answers.length, answer]);
      return answer;
    },
  });
}

async function refused(name, call) {
  try {
    await call();
    refusals[name] = "";
  } catch (error) {
    refusals[name] = error.message;
  }
}

const reader = client();
await reader.getSite();
const { posts, next_page } = await reader.getPosts({ sort: "New", limit: 10 });
const further = await reader.getPosts({ sort: "New", limit: 10, page_cursor: next_page });
const seen = new Set([...posts, ...further.posts].map((view) => view.post.id));
if (seen.size !== 20) throw new Error("a post is repeated");
for (const sort of ["Hot", "Active", "Scaled", "TopDay", "TopAll", "MostComments", "Controversial"]) {
  const first = await reader.getPosts({ sort, type_: "All", limit: 20 });
  if (first.next_page) await reader.getPosts({ sort, type_: "All", limit: 20, page_cursor: first.next_page });
}
const { communities } = await reader.listCommunities({ type_: "All", sort: "TopAll", limit: 20 });
const python = communities.find((view) => view.community.name === "python").community;
const { moderators } = await reader.getCommunity({ name: "python" });
if (moderators[0].moderator.name !== "bob") throw new Error("bob moderates python");
await reader.getCommunity({ id: python.id });
const inGroup = await reader.getPosts({ community_id: python.id, page: 2, limit: 10 });
if (!inGroup.posts.every((view) => view.community.name === "python")) throw new Error("another community");
await reader.getPosts({ community_name: "machine-learning" });
const { cross_posts, post_view } = await reader.getPost({ id: talked });
if (post_view.post.body !== "A **text**." || cross_posts.length) throw new Error("the text is missing");
await reader.getPost({ comment_id: reply });
const { comments } = await reader.getComments({ post_id: talked, max_depth: 8, sort: "Top" });
const first = comments.find((view) => view.comment.content === "First");
const deepest = comments.find((view) => view.comment.content === "Hello @alice");
if (first.counts.child_count !== 2 || deepest.comment.path.split(".").length !== 4) throw new Error("no thread");
await reader.getComments({ parent_id: reply, max_depth: 3 });
await reader.getComments({ sort: "New", limit: 20, type_: "All" });
await reader.getComments({ community_id: python.id });
await reader.getComment({ id: reply });
await reader.getPersonDetails({ username: "bob", sort: "New", limit: 20 });
for (const type_ of ["All", "Posts", "Comments", "Communities", "Users"]) await reader.search({ q: "Python", type_ });
await reader.search({ q: "https://example.org/3", type_: "Url" });
const { banned, removed_posts, added_to_community } = await reader.getModlog({ limit: 50 });
if (banned.length !== 1 || removed_posts.length !== 1 || added_to_community.length !== 2) throw new Error("the log");
await reader.getModlog({ type_: "ModBanFromCommunity", other_person_id: banned[0].banned_person.id });
await reader.resolveObject({ q: post_view.post.ap_id });
await reader.resolveObject({ q: "!python@localhost" });
await reader.resolveObject({ q: "@bob" });
await reader.resolveObject({ q: first.comment.ap_id });
await reader.getFederatedInstances();
await reader.getCaptcha();
await refused("anonymous", () => reader.likePost({ post_id: talked, score: 1 }));
await refused("missing", () => reader.getPost({ id: 999999 }));
await refused("register", () => reader.register({ username: "eve", password: "x", password_verify: "x" }));
await refused("wrong", () => reader.login({ username_or_email: "alice", password: "wrong" }));

const { jwt } = await reader.login({ username_or_email: "alice", password: alice });
const member = client(jwt);
const { my_user } = await member.getSite();
if (my_user.local_user_view.person.name !== "alice") throw new Error("not alice");
await member.validateAuth();
await member.listLogins();
const unread = await member.getUnreadCount();
if (unread.replies !== 1 || unread.mentions !== 1) throw new Error(`unread: ${JSON.stringify(unread)}`);
const { replies } = await member.getReplies({ sort: "New", unread_only: true, limit: 20 });
const { mentions } = await member.getPersonMentions({ sort: "New", unread_only: false, limit: 20 });
await member.getPrivateMessages({ unread_only: true });
await member.markCommentReplyAsRead({ comment_reply_id: replies[0].comment_reply.id, read: true });
await member.markPersonMentionAsRead({ person_mention_id: mentions[0].person_mention.id, read: true });
await member.markAllAsRead();

const created = await member.createPost({ name: "From an app", community_id: python.id, url: "https://example.org/app" });
const mine = created.post_view.post.id;
await member.editPost({ post_id: mine, name: "From a phone", body: "With a text" });
await member.likePost({ post_id: talked, score: 1 });
await member.likePost({ post_id: talked, score: -1 });
const { post_view: without } = await member.likePost({ post_id: talked, score: 0 });
if (without.my_vote !== undefined || without.counts.score !== 1) throw new Error("the vote is not taken back");
await member.savePost({ post_id: talked, save: true });
await member.markPostAsRead({ post_ids: [talked, mine], read: true });
await member.hidePost({ post_ids: [posts[0].post.id], hide: true });
await member.followCommunity({ community_id: python.id, follow: true });
await member.blockCommunity({ community_id: communities.at(-1).community.id, block: true });
await member.blockPerson({ person_id: banned[0].banned_person.id, block: true });
for (const only of ["saved_only", "liked_only", "disliked_only"]) await member.getPosts({ [only]: true });
await member.getPosts({ type_: "Subscribed", sort: "Hot" });
const written = await member.createComment({ post_id: talked, content: "From an *app*", parent_id: reply });
const id = written.comment_view.comment.id;
await member.editComment({ comment_id: id, content: "From a *phone*" });
await member.likeComment({ comment_id: reply, score: 1 });
await member.saveComment({ comment_id: reply, save: false });
await member.createPostReport({ post_id: posts[0].post.id, reason: "It advertises." });
await member.createCommentReport({ comment_id: reply, reason: "It is rude." });
await member.deleteComment({ comment_id: id, deleted: true });
await member.saveUserSettings({ bio: "I read on the train." });
const { person_view } = await member.getPersonDetails({ username: "alice" });
if (person_view.person.bio !== "I read on the train.") throw new Error("no bio");
await member.getPersonDetails({ person_id: person_view.person.id, saved_only: true });
await member.getSiteMetadata({ url: "https://example.org/" });
await member.deletePost({ post_id: mine, deleted: true });

await refused("closed", () => member.likePost({ post_id: closed, score: 1 }));
await refused("own", () => client(jwt).likeComment({ comment_id: first.comment.id, score: 1 }));
await refused("locked", () => member.createComment({ post_id: locked, content: "More" }));
await refused("other", () => member.editPost({ post_id: talked, name: "Mine now" }));
await refused("group", () => member.createCommunity({ name: "x", title: "X" }));
await refused("message", () => member.createPrivateMessage({ content: "x", recipient_id: bob }));
await refused("remove", () => member.removePost({ post_id: talked, removed: true }));
await refused("score", () => member.likePost({ post_id: talked, score: 2 }));
await member.logout();
await refused("revoked", () => member.validateAuth());

console.log(JSON.stringify({ answers, refusals }));
