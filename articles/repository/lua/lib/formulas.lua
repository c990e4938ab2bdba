--[[
The formulas that rank, the same as in articles/domain/ranking.py and articles/domain/articles.py and, for comments,
articles/domain/comments.py; tests compare them. Touches no key.
]]
-- The same as score().
local function score(posted_at, points, seconds_per_point)
  return posted_at + seconds_per_point * points
end

-- Return the votes and the opposes of an article or a comment that are left out of ranking, from its field `left_out`.
local function counts_left_out(left_out)
  if not left_out then return 0, 0 end
  local votes, opposes = string.match(left_out, '^(%d+) (%d+)$')
  return tonumber(votes or 0), tonumber(opposes or 0)
end

-- The same as ranked_points(): the points that rank an article.
local function ranked_points(votes, opposes, left_out)
  local votes_left_out, opposes_left_out = counts_left_out(left_out)
  return votes - opposes - votes_left_out + opposes_left_out
end

-- The same as hotness(), for the moment at which the hot list was scored.
local function hotness(pv, uv, posted_at, current)
  local hours = math.max(0, current.refreshed_at - posted_at) / 3600
  return (current.alpha * pv + current.beta * uv) / (hours + current.base) ^ current.gamma
end

-- The same as by_points(): most points first, and the newest first among equals. The second of posting fills the lower
-- 32 bits; the sum is exact below two million points.
local function by_points(posted_at, points)
  return points * ONE_POINT + math.max(0, math.min(math.floor(posted_at), ONE_POINT - 1))
end

-- Return an article's values by score and by points.
local function values_by_votes(posted_at, votes, opposes, left_out, seconds_per_point)
  local points = ranked_points(votes, opposes, left_out)
  return score(posted_at, points, seconds_per_point), by_points(posted_at, points)
end

-- The same as activity().
local function activity(last_comment, is_locked)
  return is_locked and last_comment - LATEST or last_comment
end

-- The same as lower_bound().
local function lower_bound(votes, opposes)
  if votes == 0 then return 0 end
  local count, square = votes + opposes, QUANTILE * QUANTILE
  local spread = QUANTILE * math.sqrt(votes * opposes / count + square / 4)
  return votes * votes / (count * (votes + square / 2 + spread))
end

-- The place of a comment among the best ones, ascending: by the lower bound, and without votes by the fewest opposes.
local function best_place(votes, opposes, left_out)
  local votes_left_out, opposes_left_out = counts_left_out(left_out)
  votes, opposes = math.max(0, votes - votes_left_out), math.max(0, opposes - opposes_left_out)
  return votes > 0 and -lower_bound(votes, opposes) or opposes
end

-- The places of a comment among the replies to its parent, ascending, in each of REPLY_ORDERS; as texts.
local function reply_places(time, votes, opposes, left_out)
  return {time = time, best = string.format('%.17g', best_place(votes, opposes, left_out))}
end
