import type { DeviceProblem } from './device-problem.ts';

/**
 * The English texts of a call, for the widget and the console. A translation is another object of type `CallTexts`. Every text is a
 * whole sentence, because a translation may need another word order.
 */
export const callTexts = {
  joinWithMicrophone: 'Join with microphone',
  joinWithCamera: 'Join with camera and microphone',
  missedCall: 'Missed call',
  callEnded: (duration: string): string => `Call ended · ${duration}`,
  deviceProblems: {
    microphone: {
      refused: 'This page may not use your microphone. Allow it in the browser, then try again.',
      missing: 'No microphone found. Connect one, then try again.',
      busy: 'Your microphone is in use by another program. Close that program, then try again.',
      insecure: 'Your microphone works only on pages opened over HTTPS.',
      lost: 'Your microphone was disconnected. Turn it on again to use another one.',
      failed: "Your microphone couldn't be started.",
    },
    camera: {
      refused: 'This page may not use your camera. Allow it in the browser, then try again.',
      missing: 'No camera found. Connect one, then try again.',
      busy: 'Your camera is in use by another program. Close that program, then try again.',
      insecure: 'Your camera works only on pages opened over HTTPS.',
      lost: 'Your camera was disconnected. Turn it on again to use another one.',
      failed: "Your camera couldn't be started.",
    },
  } satisfies Record<DeviceProblem['device'], Record<DeviceProblem['reason'], string>>,
};

export type CallTexts = typeof callTexts;

export function describeDeviceProblem({ device, reason }: DeviceProblem, texts: CallTexts = callTexts): string {
  return texts.deviceProblems[device][reason];
}
