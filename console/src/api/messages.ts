// Server-sent events as text.

/** A message of a stream of server-sent events. */
export interface Message {
  id: string | null
  event: string
  data: string
}

/** Takes whole messages off the front of a text. */
export function messages(text: string): { whole: Message[]; rest: string } {
  const blocks = text.split('\n\n')
  const rest = blocks.pop() ?? ''
  return { whole: blocks.map(message), rest }
}

function message(block: string): Message {
  const found: Message = { id: null, event: 'message', data: '' }
  for (const line of block.split('\n')) {
    const [, field, value = ''] = /^([a-z]+):? ?(.*)$/.exec(line) ?? []
    if (field === 'id') found.id = value
    else if (field === 'event') found.event = value
    else if (field === 'data') found.data += found.data === '' ? value : `\n${value}`
  }
  return found
}
