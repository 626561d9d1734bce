/**
 * Whether this browser can make calls on this page: it has WebRTC, and the page may ask for a microphone. Pages without HTTPS may
 * not.
 */
export const canCall = typeof RTCPeerConnection === 'function' && navigator.mediaDevices?.getUserMedia !== undefined;
