export { Agent, buildConnector, Client, fetch, request } from 'undici';
