-- Drives `assay lsp` with the client of Neovim. Environment: ASSAY_PROGRAM, the program; ASSAY_FILE,
-- a file of a repository with a committed text; ASSAY_MANUAL, the configuration of the manual for
-- this version. Exits with 0 if everything is as expected.

local TIMEOUT = 60000
local CODE = { 'def total(prices):', '    return sum(prices)' }
local REASON = 'Accepted risk'

local file = vim.env.ASSAY_FILE
local exit_codes = {}

local function fail(why)
  error(why, 0)
end

local function expect(value, why)
  if not value then
    fail(why)
  end
  return value
end

--- Waits until a condition holds.
local function wait(why, condition)
  expect(vim.wait(TIMEOUT, condition, 10), 'no ' .. why .. ' in time')
end

local function same(found, expected, why)
  expect(vim.deep_equal(found, expected), why .. ': ' .. vim.inspect(found))
end

--- Starts a client for the current buffer, and returns it.
local function start()
  local config = {
    name = 'assay',
    cmd = { vim.env.ASSAY_PROGRAM, 'lsp' },
    root_dir = vim.fn.fnamemodify(file, ':h'),
    init_options = { debounce = 0 },
    on_exit = function(code)
      table.insert(exit_codes, code)
    end,
  }
  local id
  if vim.lsp.start then
    id = vim.lsp.start(config)
  else
    -- Neovim 0.7
    id = vim.lsp.start_client(config)
    vim.lsp.buf_attach_client(0, id)
  end
  expect(id, 'the client did not start')
  local client
  wait('initialized client', function()
    client = vim.lsp.get_client_by_id(id)
    return client and client.initialized and vim.lsp.buf_is_attached(0, id)
  end)
  return client
end

--- Calls a method of a client; before Neovim 0.11 methods are functions.
local function call(client, name, ...)
  if vim.fn.has('nvim-0.11') == 1 then
    return client[name](client, ...)
  end
  return client[name](...)
end

--- Stops a client, and expects that its server ends well.
local function stop(client)
  local before = #exit_codes
  call(client, 'stop')
  wait('exit of the server', function()
    return #exit_codes > before
  end)
  same(exit_codes[#exit_codes], 0, 'the exit code of the server')
end

local function set(lines)
  vim.api.nvim_buf_set_lines(0, 0, -1, true, lines)
end

local function lines()
  return vim.api.nvim_buf_get_lines(0, 0, -1, true)
end

local function with_breakpoints(count)
  local text = { CODE[1] }
  for _ = 1, count do
    table.insert(text, '    breakpoint()')
  end
  table.insert(text, CODE[2])
  return text
end

--- Waits for a number of findings in the buffer, and returns them.
local function findings(count)
  wait(count .. ' findings', function()
    return #vim.diagnostic.get(0) == count
  end)
  return vim.diagnostic.get(0)
end

--- Sends a request, and returns its result.
local function request(client, method, params)
  local answer
  call(client, 'request', method, params, function(problem, result)
    answer = { problem = problem, result = result }
  end, 0)
  wait('answer to ' .. method, function()
    return answer
  end)
  expect(answer.problem == nil, method .. ': ' .. vim.inspect(answer.problem))
  return answer.result
end

local function document()
  return { uri = vim.uri_from_bufnr(0) }
end

local function actions(client, line)
  local at = { line = line, character = 0 }
  local params = { textDocument = document(), range = { start = at, ['end'] = at } }
  params.context = { diagnostics = {} }
  return request(client, 'textDocument/codeAction', params)
end

--- Returns the action whose title starts with a text.
local function action(client, line, title)
  for _, one in ipairs(actions(client, line)) do
    if vim.startswith(one.title, title) then
      return one
    end
  end
  fail('no action "' .. title .. '"')
end

local function apply(client, chosen)
  vim.lsp.util.apply_workspace_edit(chosen.edit, client.offset_encoding)
end

local function execute(client, chosen)
  local command = chosen.command
  local params = { command = command.command, arguments = command.arguments }
  return request(client, 'workspace/executeCommand', params)
end

local function check_typing()
  findings(0)
  vim.api.nvim_buf_set_lines(0, 1, 1, true, { '    breakpoint()' })
  local found = findings(1)[1]
  same({ found.lnum, found.source, found.code }, { 1, 'assay', 'python/debugger' }, 'the finding')
  set(CODE)
  findings(0)
end

local function check_hover(client)
  set(with_breakpoints(1))
  findings(1)
  local params = { textDocument = document(), position = { line = 1, character = 6 } }
  local text = request(client, 'textDocument/hover', params).contents.value
  for _, part in ipairs({ 'Why: ', 'Evidence:', 'breakpoint()', 'python/debugger' }) do
    expect(text:find(part, 1, true), 'the hover has no "' .. part .. '": ' .. text)
  end
end

local function check_fixes(client)
  set(with_breakpoints(2))
  findings(2)
  apply(client, action(client, 1, 'Fix: '))
  findings(1)
  same(lines(), with_breakpoints(1), 'the text after a fix')
  set(with_breakpoints(3))
  findings(3)
  apply(client, action(client, 0, 'Apply all safe fixes'))
  findings(0)
  same(lines(), CODE, 'the text after all safe fixes')
end

local function check_dismissal(client)
  set(with_breakpoints(1))
  vim.cmd('silent write')
  findings(1)
  request(client, 'workspace/executeCommand', { command = 'assay.review', arguments = { document() } })
  local shown = execute(client, action(client, 1, 'Explain: '))
  expect(shown:find('raised', 1, true), 'the explanation has no history: ' .. shown)
  local asked = {}
  vim.lsp.handlers['window/showMessageRequest'] = function(_, params)
    table.insert(asked, params.message)
    for _, choice in ipairs(params.actions) do
      if choice.title == REASON then
        return choice
      end
    end
    return vim.NIL
  end
  execute(client, action(client, 1, 'Dismiss: '))
  expect(#asked == 1, 'the user was asked for a reason')
  findings(0)
end

local function check_after_restart()
  local client = start()
  -- The finding is dismissed, and another one is not.
  local text = with_breakpoints(1)
  table.insert(text, 'import pdb; pdb.set_trace()')
  set(text)
  local found = findings(1)[1]
  same(found.lnum, 3, 'the line of the finding that was not dismissed')
  stop(client)
end

--- Opens the file with the configuration of the manual alone.
local function check_manual()
  vim.cmd('bwipeout!')
  dofile(vim.env.ASSAY_MANUAL)
  vim.cmd('filetype on')
  vim.cmd('edit ' .. vim.fn.fnameescape(file))
  vim.api.nvim_buf_set_lines(0, -1, -1, true, { 'import pdb; pdb.set_trace()' })
  same(findings(1)[1].source, 'assay', 'the source of the finding')
end

local function main()
  vim.cmd('edit ' .. vim.fn.fnameescape(file))
  same(lines(), CODE, 'the committed text')
  local client = start()
  check_typing()
  check_hover(client)
  check_fixes(client)
  check_dismissal(client)
  stop(client)
  check_after_restart()
  check_manual()
end

local passed, why = xpcall(main, function(problem)
  return type(problem) == 'string' and problem or debug.traceback(vim.inspect(problem))
end)
if passed then
  vim.cmd('qall!')
else
  io.stderr:write(tostring(why) .. '\n')
  vim.cmd('cquit 1')
end
