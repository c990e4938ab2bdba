// Drives a site with the library that apps such as Voyager are built on: it asks nodeinfo which API there is, and
// checks every answer against schemas of its own. Prints what it found, as JSON.
import { ThreadiverseClient } from "threadiverse";

const [site, told] = process.argv.slice(2);
const { talked, alice, reply } = JSON.parse(told);

const reader = new ThreadiverseClient(site);
const { mode, software } = await reader.connect();
const { jwt } = await reader.login({ username_or_email: "alice", password: alice });
const member = new ThreadiverseClient(site, { headers: { Authorization: `Bearer ${jwt}` } });
const { my_user } = await member.getSite();
const me = my_user.local_user_view.person;
const lists = {
  posts: await member.getPosts({ mode, sort: "Hot", type_: "all", limit: 10 }),
  comments: await member.getComments({ mode, post_id: talked, sort: "Hot", max_depth: 6 }),
  communities: await member.listCommunities({ mode, type_: "all", limit: 10 }),
  notifications: await member.getNotifications({ limit: 10 }),
  written: await member.listPersonContent({ person_id: me.id }),
  saved: await member.listPersonSaved({ person_id: me.id }),
  liked: await member.listPersonLiked({ like_type: "liked_only" }),
  found: await member.search({ mode, search_term: "Python", type_: "all" }),
  log: await reader.getModlog({ limit: 20 }),
};
await member.getPost({ id: talked });
await member.getPersonDetails({ username: "bob" });
await member.getCommunity({ name: "python" });
await member.getUnreadCount();
await member.likePost({ post_id: talked, is_upvote: true });
await member.likeComment({ comment_id: reply, is_upvote: false });
await member.markPostAsRead({ post_ids: [talked], read: true });
const { comment_view } = await member.createComment({ post_id: talked, content: "From a train" });
await member.deleteComment({ comment_id: comment_view.comment.id, deleted: true });
const missing = await member.getPost({ id: 999999 }).catch((error) => error.name);
await member.logout();

const sizes = Object.entries(lists).map(([name, list]) => [name, list.data.length]);
console.log(JSON.stringify({ mode, software, missing, sizes: Object.fromEntries(sizes) }));
