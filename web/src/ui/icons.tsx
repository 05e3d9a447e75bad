// Drawn on a 16 by 16 grid, one stroke width. They never stand alone for a meaning: text or a label says it too.
const PATHS = {
  play: 'M5 3.5v9l7-4.5z',
  pause: 'M5.5 3.5v9M10.5 3.5v9',
  stop: 'M4.5 4.5h7v7h-7z',
  check: 'M3 8.5l3.5 3.5L13 5',
  cross: 'M4 4l8 8M12 4l-8 8',
  warn: 'M8 2.5l6 11H2zM8 6.5v3.2M8 11.6v.2',
  hand: 'M8 2.2v6M5.5 4v5M10.5 3.2v5.3M13 5.5v4.2c0 2.6-2 4.3-4.6 4.3-2 0-3.2-.9-4.1-2.5L2.8 8.9c.9-.7 1.7-.3 2.4.8',
  clock: 'M8 4.5V8l2.4 1.6M14 8A6 6 0 1 1 2 8a6 6 0 0 1 12 0z',
  fork: 'M4.5 2.5v11M4.5 9c5 0 7-1.5 7-5M11.5 2.5l1.8 2M11.5 2.5l-1.8 2',
  link: 'M6.5 9.5l3-3M7 4.8l1.3-1.3a2.8 2.8 0 0 1 4 4L11 8.8M9 11.2l-1.3 1.3a2.8 2.8 0 0 1-4-4L5 7.2',
  search: 'M7 12A5 5 0 1 0 7 2a5 5 0 0 0 0 10zM10.8 10.8L14 14',
  plus: 'M8 3v10M3 8h10',
  copy: 'M5.5 5.5h8v8h-8zM10.5 5.5v-3h-8v8h3',
  bell: 'M8 2.2a4 4 0 0 0-4 4v3l-1.3 2.3h10.6L12 9.2v-3a4 4 0 0 0-4-4zM6.6 13.2a1.5 1.5 0 0 0 2.8 0',
  column: 'M3 3.5h10M3 6.5h10M3 9.5h10M3 12.5h6',
  columns: 'M2.5 3h4.5v10H2.5zM9 3h4.5v10H9z',
  info: 'M14 8A6 6 0 1 1 2 8a6 6 0 0 1 12 0zM8 7.2v4M8 4.9v.1',
  down: 'M8 3v9M4 8.5L8 12.5l4-4',
  export: 'M8 2v8M5 7l3 3 3-3M3 11v2.5h10V11',
  sun: 'M8 5.2a2.8 2.8 0 1 0 0 5.6 2.8 2.8 0 0 0 0-5.6zM8 1.5v1.2M8 13.3v1.2M1.5 8h1.2M13.3 8h1.2M3.4 3.4l.9.9M11.7 11.7l.9.9M3.4 12.6l.9-.9M11.7 4.3l.9-.9',
  moon: 'M13 9.6A5.6 5.6 0 0 1 6.4 3a5.6 5.6 0 1 0 6.6 6.6z',
  auto: 'M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2zM8 2v12',
  keys: 'M2 4.5h12v7H2zM4.5 7h.1M7 7h.1M9.5 7h.1M11.8 7h.1M5 9.5h6',
  compare: 'M8 2v12M3 5h3M3 8h3M3 11h3M10 5h3M10 8h3M10 11h3',
  retry: 'M13 8a5 5 0 1 1-1.6-3.7M13 2.5v3h-3',
  speak: 'M2.5 3.5h11v7.5H8l-3 2.5V11H2.5z',
  dot: 'M8 5.2a2.8 2.8 0 1 0 0 5.6 2.8 2.8 0 0 0 0-5.6z',
  list: 'M5.5 4.5H13M5.5 8H13M5.5 11.5H13M2.6 4.5h.1M2.6 8h.1M2.6 11.5h.1',
  more: 'M3.5 8h.1M8 8h.1M12.5 8h.1',
  pin: 'M6 2.5h4M6.8 2.5v4L4.5 9.2h7L9.2 6.5v-4M8 9.2v4.3',
  box: 'M2.5 3.5h11v3h-11zM3.5 6.5v6.5h9V6.5M6.5 9h3',
  edit: 'M3 13l.6-2.7 7-7a1.4 1.4 0 0 1 2.1 2.1l-7 7z',
  bin: 'M3.5 4.5h9M6.2 4.3V2.8h3.6v1.5M4.7 4.5l.6 8.7h5.4l.6-8.7',
  share: 'M8 10V2.5M5.3 5L8 2.3 10.7 5M5 7.5H3.5v6h9v-6H11',
  star: 'M8 2.2l1.8 3.7 4 .5-3 2.8.8 4L8 11.2l-3.6 2 .8-4-3-2.8 4-.5z',
  out: 'M6 3H3v10h3M7 8h6.5M11 5.5L13.5 8 11 10.5',
} as const

export type IconName = keyof typeof PATHS

export function Icon({ name, filled }: { name: IconName; filled?: boolean }) {
  return (
    <svg class={filled ? 'icon filled' : 'icon'} viewBox="0 0 16 16" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  )
}
