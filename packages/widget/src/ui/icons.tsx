const paths = {
  chat: 'M21 12a8 8 0 0 1-8 8H4l1.8-3A8 8 0 1 1 21 12Z',
  audio: 'M6 3h3l1.5 5-2 1.5a12 12 0 0 0 6 6l1.5-2 5 1.5v3a2 2 0 0 1-2 2A16 16 0 0 1 4 5a2 2 0 0 1 2-2Z',
  video: 'M3 7h12v10H3zM15 11l6-3v8l-6-3',
  close: 'M6 6l12 12M18 6L6 18',
  down: 'M6 9l6 6 6-6',
  send: 'M4 12l16-8-6 16-3-7-7-1Z',
  clip: 'M20 11l-8 8a5 5 0 0 1-7-7l9-9a3.5 3.5 0 0 1 5 5l-9 9a2 2 0 0 1-3-3l8-8',
  file: 'M7 3h7l4 4v14H7zM14 3v4h4',
  microphone: 'M12 3a3 3 0 0 1 3 3v5a3 3 0 0 1-6 0V6a3 3 0 0 1 3-3ZM6 11a6 6 0 0 0 12 0M12 17v4',
  muted: 'M9 9v2a3 3 0 0 0 5 2M15 9V6a3 3 0 0 0-6-1M6 11a6 6 0 0 0 9 5M18 11v1M12 17v4M4 3l16 18',
  noVideo: 'M3 7h8M15 13v4H3V7M15 11l6-3v8l-6-3M4 3l16 18',
  hangUp: 'M3 15c0-8 18-8 18 0v1l-5 1-1-3a11 11 0 0 0-6 0l-1 3-5-1z',
  devices: 'M4 7h9M17 7h3M4 17h3M11 17h9M15 5v4M9 15v4',
  leave: 'M14 4H5v16h9M10 12h11M17 8l4 4-4 4',
} as const;

export function Icon({ name }: { readonly name: keyof typeof paths }) {
  return (
    <svg viewBox="0 0 24 24" aria-hidden="true">
      <path d={paths[name]} />
    </svg>
  );
}
