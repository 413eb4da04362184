// SPDX-License-Identifier: Apache-2.0
// Small pieces that every panel uses.
import { ComponentChildren } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { Look } from './classes';
import { Sentence } from './session';
import { shorten, visible } from './text';

/** Any text from the graph: as text, in its own direction, never longer than asked. */
export function Value({ text, most = 60 }: { text: string; most?: number }) {
  const short = shorten(text, most);
  return <bdi class="value" title={short === text ? undefined : visible(text.slice(0, 2000))}>{short}</bdi>;
}

export function Says({ sentence }: { sentence: Sentence }) {
  return <>{sentence.map((part, i) => (typeof part === 'string' ? part : <Value key={i} text={part.value} most={part.most} />))}</>;
}

/** The mark of a class; filled: a person said so, hollow: the learner's answer. */
export function Glyph({ look, known = true }: { look: Look; known?: boolean }) {
  return (
    <svg class={`glyph c${look.color} ${known ? 'known' : 'guess'}`} viewBox="-1.6 -1.6 3.2 3.2" aria-hidden="true">
      <path d={look.shape} />
    </svg>
  );
}

export function Bar({ share }: { share: number }) {
  return <span class="bar" aria-hidden="true"><span style={{ width: `${Math.max(0, Math.min(1, share)) * 100}%` }} /></span>;
}

export const Key = ({ children }: { children: ComponentChildren }) => <kbd aria-hidden="true">{children}</kbd>;

/** A window above the page; the browser keeps the focus inside and gives it back. */
export function Modal({ title, open, onClose, children }: { title: string; open: boolean; onClose: (() => void) | null; children: ComponentChildren }) {
  const ref = useRef<HTMLDialogElement>(null), id = useId();
  useEffect(() => {
    const dialog = ref.current!;
    if (open && !dialog.open) dialog.showModal();
    if (!open && dialog.open) dialog.close();
  }, [open]);
  return (
    <dialog ref={ref} aria-labelledby={id} onClose={() => onClose?.()} onCancel={(e) => { if (onClose === null) e.preventDefault(); }}>
      {open && <>
        <header><h2 id={id}>{title}</h2>{onClose && <button type="button" class="quiet" onClick={onClose} aria-label="Close">✕</button>}</header>
        {children}
      </>}
    </dialog>
  );
}

interface ComboboxProps<T> {
  label: string; placeholder: string; shortcut: string; inputId: string;
  /** What fits, or how to ask for it once the typing pauses. */
  find: (text: string, signal: AbortSignal) => T[] | (() => Promise<T[]>);
  keyOf: (item: T) => string;
  render: (item: T) => ComponentChildren;
  onPick: (item: T) => void;
  none: (text: string) => string;
}

/** A field with a list of what fits below it (the combobox of the ARIA practices). */
export function Combobox<T>({ label, placeholder, shortcut, inputId, find, keyOf, render, onPick, none }: ComboboxProps<T>) {
  const [text, setText] = useState('');
  const [found, setFound] = useState<{ of: string; items: T[] } | null>(null);
  const [active, setActive] = useState(0);
  const [open, setOpen] = useState(false);
  const list = useId();
  const entered = useRef<string | null>(null);  // Enter came before the list for this text: its first item is meant
  const items = found?.of === text ? found.items : null;  // a list for what was typed before must never be picked from

  const pick = (item: T) => { setText(''); setOpen(false); setFound(null); onPick(item); };
  useEffect(() => {
    if (!open || text.trim() === '') return setFound(null);
    const control = new AbortController();
    const show = (fits: T[]) => {
      setFound({ of: text, items: fits });
      setActive(0);
      if (entered.current === text && fits.length > 0) pick(fits[0]);
    };
    const fits = find(text, control.signal);
    if (Array.isArray(fits)) return show(fits);
    const timer = setTimeout(async () => {
      try { show(await fits()); } catch { if (!control.signal.aborted) show([]); }
    }, 90);
    return () => { clearTimeout(timer); control.abort(); };
  }, [text, open]);

  const onKey = (event: KeyboardEvent) => {
    const input = event.target as HTMLInputElement, now = items !== null && input.value === text ? items : null;
    const move = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === 'Escape') { setText(''); setOpen(false); input.blur(); }
    else if (event.key === 'Enter' && now === null) entered.current = input.value;
    else if (event.key === 'Enter' && now?.[active] !== undefined) pick(now[active]);
    else if (move !== undefined && now !== null && now.length > 0) setActive((active + move + now.length) % now.length);
    else return;
    event.preventDefault();
  };
  const shown = open && items !== null;
  return (
    <div class="combobox">
      <input id={inputId} type="text" role="combobox" aria-label={label} aria-expanded={shown} aria-controls={list} aria-autocomplete="list"
        aria-activedescendant={shown && items.length > 0 ? `${list}-${active}` : undefined} autocomplete="off" spellcheck={false}
        autocapitalize="none" placeholder={placeholder} value={text} onKeyDown={onKey} onFocus={() => setOpen(true)}
        onBlur={() => setOpen(false)} onInput={(e) => { entered.current = null; setText(e.currentTarget.value); setOpen(true); }} />
      {!text && <Key>{shortcut}</Key>}
      <div class="options" hidden={!shown}>
        <ul id={list} role="listbox" aria-label={label}>
          {shown && items.map((item, i) => (
            <li key={keyOf(item)} id={`${list}-${i}`} role="option" aria-selected={i === active} onMouseDown={(e) => { e.preventDefault(); pick(item); }}>
              {render(item)}
            </li>
          ))}
        </ul>
        {shown && items.length === 0 && <p role="status">{none(text)}</p>}
      </div>
    </div>
  );
}
