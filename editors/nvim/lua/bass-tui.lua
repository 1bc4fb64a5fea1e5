-- bass-tui for Neovim: candidates of the function under the cursor, with verdicts, in a floating window.
--
-- Needs `bass-tui serve --allow-trials` on this machine. Put the folder `nvim` in the runtime path, then:
--   require("bass-tui").setup({})              -- :BassTui asks, :BassTuiCancel ends what is being written
--   :BassTui also accept None                  -- changes the function that is there
-- In the window: Enter takes the candidate under the cursor, Tab goes to the next one, q closes.

local M = {
  config = {
    address = "127.0.0.1:8017",
    token = vim.env.BASS_TUI_SERVE_TOKEN,
    -- Fields of the request, such as { n = 16, temperature = 0.8, tests = "auto" }.
    options = {},
  },
}

-- The request that goes on or was the last: its buffers, its connection and what is known of its candidates.
local run

local WORDS = {
  passed = "PASS", failed = "FAIL", error = "ERROR", timeout = "TIMEOUT", killed = "KILLED",
  tampered = "TAMPERED", not_run = "NOT RUN",
}

local function say(message, level)
  vim.notify("bass-tui: " .. message, level or vim.log.levels.INFO)
end

-- The state of a candidate in a word or two.
local function state(candidate)
  local of = candidate.of and run.candidates[candidate.of] or candidate
  local verdict = of.verdict
  local word = verdict and (WORDS[verdict.status] or verdict.status)
    or of.testing and "testing" or candidate.finish and "" or "…"
  if candidate.of then
    word = word .. " (same as " .. string.char(65 + candidate.of) .. ")"
  end
  if verdict and verdict.status ~= "passed" and verdict.message ~= "" then
    word = word .. "  " .. verdict.message
  end
  return word
end

-- Draws all candidates anew.
local function draw()
  if not run or not vim.api.nvim_buf_is_valid(run.shown) then
    return
  end
  local lines, places = {}, {}
  for index = 0, run.n - 1 do
    local candidate = run.candidates[index]
    local mark = run.pick == index and ">" or " "
    places[index] = #lines + 1
    lines[#lines + 1] = (mark .. " " .. string.char(65 + index % 26) .. "  " .. state(candidate)):gsub("[\n%z]", " ")
    for _, line in ipairs(vim.split((candidate.text:gsub("\n$", "")), "\n", { plain = true })) do
      lines[#lines + 1] = line
    end
  end
  run.places = places
  vim.bo[run.shown].modifiable = true
  vim.api.nvim_buf_set_lines(run.shown, 0, -1, false, lines)
  vim.bo[run.shown].modifiable = false
end

-- Draws soon, however much comes.
local function draw_soon()
  if run and not run.waits then
    run.waits = true
    vim.defer_fn(function()
      if run then
        run.waits = false
        draw()
      end
    end, 50)
  end
end

local function close_connection()
  if run and run.socket and not run.socket:is_closing() then
    run.socket:close()
  end
end

-- Takes in an event of the stream.
local function take(event)
  if event.error then
    run.done = true
    run.failed = event.error.message
    return say(event.error.message, vim.log.levels.ERROR)
  end
  local candidate = type(event.index) == "number" and run.candidates[event.index] or {}
  if event.event == "begin" then
    run.n = event.n
    for index = 0, event.n - 1 do
      run.candidates[index] = { text = "" }
    end
  elseif event.event == "tokens" then
    candidate.text = candidate.text .. event.text
  elseif event.event == "finished" then
    candidate.text, candidate.finish, candidate.edit = event.text, event.finish, event.edit
  elseif event.event == "duplicate" then
    candidate.of = event.of
  elseif event.event == "testing" then
    candidate.testing = true
  elseif event.event == "verdict" then
    candidate.verdict = event.verdict
  elseif event.event == "pick" then
    run.pick = type(event.index) == "number" and event.index or nil
  elseif event.event == "done" then
    run.done = true
    draw()
    if run.pick and vim.api.nvim_win_is_valid(run.window) then
      vim.api.nvim_win_set_cursor(run.window, { run.places[run.pick], 0 })
    end
  end
  draw_soon()
end

-- Takes in bytes of the answer. (To HTTP 1.0 a server sends the body as it is, and then closes.)
local function receive(bytes)
  run.rest = run.rest .. bytes
  if not run.head then
    local _, stop = run.rest:find("\r\n\r\n", 1, true)
    if not stop then
      return
    end
    run.head, run.rest = run.rest:sub(1, stop), run.rest:sub(stop + 1)
    run.plain = not run.head:lower():find("text/event-stream", 1, true)
  end
  while not run.plain do
    local stop = run.rest:find("\n", 1, true)
    if not stop then
      return
    end
    local data = run.rest:sub(1, stop - 1):match("^data: (.*)$")
    run.rest = run.rest:sub(stop + 1)
    if data and data ~= "[DONE]" then
      take(vim.json.decode(data))
    end
  end
end

-- The connection has ended; an answer that is no stream says why there is none.
local function ended(why)
  close_connection()
  if run.done then
    return
  end
  run.done = true
  local fine, answer = pcall(vim.json.decode, run.plain and run.rest or "")
  run.failed = fine and answer.error and answer.error.message or why or "the server has ended its answer too early"
  say(run.failed, vim.log.levels.ERROR)
end

local function open_window(syntax)
  local shown = vim.api.nvim_create_buf(false, true)
  local width = math.max(20, math.floor(vim.o.columns * 0.8))
  local height = math.max(5, math.floor(vim.o.lines * 0.7))
  local window = vim.api.nvim_open_win(shown, true, {
    relative = "editor", style = "minimal", border = "rounded", width = width, height = height,
    row = math.floor((vim.o.lines - height) / 2), col = math.floor((vim.o.columns - width) / 2),
  })
  vim.bo[shown].bufhidden = "wipe"
  vim.bo[shown].syntax = syntax
  local map = function(key, act)
    vim.keymap.set("n", key, act, { buffer = shown, nowait = true })
  end
  map("<CR>", M.accept)
  map("<Tab>", M.next)
  map("q", M.close)
  return shown, window
end

-- Asks for candidates of the function under the cursor.
function M.candidates(options)
  M.cancel()
  local buffer = vim.api.nvim_get_current_buf()
  local text = table.concat(vim.api.nvim_buf_get_lines(buffer, 0, -1, false), "\n") .. "\n"
  local body = vim.tbl_extend("force", M.config.options, options or {}, {
    path = vim.api.nvim_buf_get_name(buffer),
    text = text,
    target = vim.api.nvim_win_get_cursor(0)[1],
  })
  local json = vim.json.encode(body)
  local host, port = M.config.address:match("^(.*):(%d+)$")
  local shown, window = open_window(vim.bo[buffer].filetype)
  run = {
    buffer = buffer, tick = vim.api.nvim_buf_get_changedtick(buffer), shown = shown, window = window,
    candidates = {}, n = 0, rest = "", socket = vim.loop.new_tcp(),
  }
  local mine = run
  local here = function(act)
    return vim.schedule_wrap(function(...)
      if run == mine then
        act(...)
      end
    end)
  end
  local lines = {
    "POST /v1/candidates HTTP/1.0", "Host: " .. M.config.address, "Content-Type: application/json",
    "Content-Length: " .. #json,
  }
  if M.config.token then
    lines[#lines + 1] = "Authorization: Bearer " .. M.config.token
  end
  local request = table.concat(lines, "\r\n") .. "\r\n\r\n" .. json
  mine.socket:connect(host == "localhost" and "127.0.0.1" or host, tonumber(port), function(failed)
    if failed then
      return here(ended)("nothing answers at " .. M.config.address .. " (" .. failed .. "): start bass-tui serve")
    end
    mine.socket:write(request)
    mine.socket:read_start(here(function(broken, bytes)
      if broken or not bytes then
        return ended(broken)
      end
      receive(bytes)
    end))
  end)
end

-- The candidate under the cursor.
local function current()
  local line = vim.api.nvim_win_get_cursor(run.window)[1]
  for index = run.n - 1, 0, -1 do
    if run.places[index] <= line then
      return index
    end
  end
end

-- Goes to the next candidate.
function M.next()
  local index = run and run.places and current()
  if index then
    vim.api.nvim_win_set_cursor(run.window, { run.places[(index + 1) % run.n], 0 })
  end
end

-- Puts the candidate under the cursor into its buffer.
function M.accept()
  draw()
  local index = run and run.places and current()
  local edit = index and run.candidates[index].edit
  if type(edit) ~= "table" then
    return say("this candidate is not finished")
  end
  local buffer = run.buffer
  if not vim.api.nvim_buf_is_valid(buffer) or vim.api.nvim_buf_get_changedtick(buffer) ~= run.tick then
    return say("the text has changed since the candidates were asked for: nothing was written", vim.log.levels.WARN)
  end
  local text, stop, count = edit.text, edit["end"], vim.api.nvim_buf_line_count(buffer)
  local row, column = stop.line, stop.byte
  if row >= count then
    -- The text ends behind its last line end, which no buffer has.
    row = count - 1
    column = #vim.api.nvim_buf_get_lines(buffer, row, row + 1, false)[1]
    text = text:gsub("\n$", "")
  end
  local from = edit.start
  if from.line >= count then
    text = "\n" .. text
    from = { line = row, byte = column }
  end
  M.close()
  vim.api.nvim_buf_set_text(buffer, from.line, from.byte, row, column, vim.split(text, "\n", { plain = true }))
end

-- Ends what is being written; the server then frees its candidates.
function M.cancel()
  close_connection()
  if run then
    run.done = true
  end
end

-- Closes the window, and ends what is being written.
function M.close()
  M.cancel()
  if run and vim.api.nvim_win_is_valid(run.window) then
    vim.api.nvim_win_close(run.window, true)
  end
end

-- Whether nothing more is to come, and why nothing came.
function M.is_done()
  return run == nil or run.done == true, run and run.failed
end

function M.setup(config)
  M.config = vim.tbl_deep_extend("force", M.config, config or {})
  vim.api.nvim_create_user_command("BassTui", function(typed)
    M.candidates(typed.args ~= "" and { change = typed.args } or nil)
  end, { nargs = "*" })
  vim.api.nvim_create_user_command("BassTuiCancel", M.cancel, {})
end

return M
