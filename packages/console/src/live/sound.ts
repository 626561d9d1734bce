import { useLocalStorage } from '@mantine/hooks';

/** Notes as [hertz, seconds after the first]. */
const tunes = {
  offer: [
    [659, 0],
    [880, 0.16],
    [659, 0.32],
    [880, 0.48],
  ],
  message: [[740, 0]],
} as const;

const noteSeconds = 0.14;
const loudness = 0.15;

let context: AudioContext | null = null;

/** Synthesized by the browser, so that nothing is loaded. Browsers allow sound only after the first interaction with the page. */
export function play(tune: keyof typeof tunes): void {
  context ??= new AudioContext();
  const audio = context;
  if (audio.state === 'suspended') void audio.resume();
  for (const [hertz, after] of tunes[tune]) {
    const from = audio.currentTime + after;
    const note = audio.createOscillator();
    const volume = audio.createGain();
    note.frequency.value = hertz;
    volume.gain.setValueAtTime(0, from);
    volume.gain.linearRampToValueAtTime(loudness, from + 0.02);
    volume.gain.exponentialRampToValueAtTime(0.001, from + noteSeconds);
    note.connect(volume).connect(audio.destination);
    note.start(from);
    note.stop(from + noteSeconds);
  }
}

/** Whether sounds are played; stored in the browser. */
export function useSound(): [on: boolean, set: (on: boolean) => void] {
  const [value, set] = useLocalStorage({ key: 'usher-sound', defaultValue: 'on', getInitialValueInEffect: false });
  return [value === 'on', (on) => set(on ? 'on' : 'off')];
}
