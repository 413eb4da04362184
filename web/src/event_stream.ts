// SPDX-License-Identifier: Apache-2.0
// Server-sent events out of the text of a response; ids are not needed, since the data carries them.

/** Takes the stream piece by piece, as it arrives; lines may be cut anywhere. */
export function eventParser(onEvent: (kind: string, data: string) => void): (text: string) => void {
  let rest = '', kind = 'message', data: string[] = [];
  return (text) => {
    const lines = (rest + text).split(/\r\n|\n|\r(?!$)/);
    rest = lines.pop() ?? '';
    for (const line of lines) {
      if (line === '') {
        if (data.length > 0) onEvent(kind, data.join('\n'));
        kind = 'message';
        data = [];
      } else if (line.startsWith('event:')) kind = line.slice(6).trim();
      else if (line.startsWith('data:')) data.push(line.slice(5).replace(/^ /, ''));
    }
  };
}
