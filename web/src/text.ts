// SPDX-License-Identifier: Apache-2.0
// Ids and labels may be any text. Nothing here makes HTML; what would reorder or hide the text around it is spelled out.

const kInvisible = /[\u0000-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028\u2029\u202a-\u202e\u2060\u2066-\u2069\ufeff]/g;

function spelled(character: string): string {
  const escape = { '\n': '\\n', '\r': '\\r', '\t': '\\t' }[character];
  return escape ?? `[U+${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}]`;
}

/** Text as a person may read it: controls and direction marks become visible characters. */
export function visible(text: string): string {
  return text.replace(kInvisible, spelled);
}

/** The beginning and the end of a long text: ids often differ only at the end. */
export function shorten(text: string, most: number): string {
  const characters = text.length > 4 * most ? [...text.slice(0, 2 * most), ...text.slice(-2 * most)] : [...text];
  if (characters.length <= most && text.length <= 4 * most) return visible(text);
  const tail = Math.floor(most / 3);
  return visible(characters.slice(0, most - tail - 1).join('')) + '…' + visible(characters.slice(-tail).join(''));
}

const kCount = new Intl.NumberFormat('en');
const kShort = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 });
const kWeight = new Intl.NumberFormat('en', { maximumSignificantDigits: 3 });
const kTime = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });
const kDay = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short' });

export const count = (n: number): string => kCount.format(n);
export const compact = (n: number): string => kShort.format(n);
export const weight = (n: number): string => kWeight.format(n);
export const plural = (n: number, one: string, many = one + 's'): string => `${count(n)} ${n === 1 ? one : many}`;
export const percent = (share: number): string => (share > 0 && share < 0.005 ? '<1\u00a0%' : `${Math.round(share * 100)}\u00a0%`);

export function when(at: string): string {
  const date = new Date(at);
  if (Number.isNaN(date.getTime())) return '';
  return (date.toDateString() === new Date().toDateString() ? kTime : kDay).format(date);
}
