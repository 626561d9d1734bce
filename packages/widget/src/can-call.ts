/**
 * Whether this browser can make calls: it has WebRTC, and the page may use a microphone. A page that did not come over HTTPS
 * may not.
 */
export const canCall = typeof RTCPeerConnection === 'function' && navigator.mediaDevices?.getUserMedia !== undefined;
