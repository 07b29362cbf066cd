/** How Chromium is started. */
export interface FlagOptions {
  /** Folder of the profile. */
  readonly profile: string;
  readonly isSandboxed: boolean;
}

/** Parts of Chromium that talk to servers of their own, or to the network beside the proxy. */
const DISABLED_FEATURES = [
  'AutofillServerCommunication',
  'CertificateTransparencyComponentUpdater',
  'DialMediaRouteProvider',
  'InterestFeedContentSuggestions',
  'MediaRouter',
  'OptimizationHints',
  'PreconnectToSearch',
  'PrewarmDefaultSearchEngine',
  'SearchEnginePreconnect2',
  'SearchEnginePreconnector',
  'Translate',
];

/** Mebibytes of what the scripts of a page keep; beyond, the page crashes. */
const MAX_HEAP_MIB = 512;

/** A proxy that is not there, for what Chromium asks on its own account: updates, accounts, the time. */
const NO_PROXY = 'http://127.0.0.1:1';

/**
 * The command line of a headless Chromium without any way to the network: windows get a proxy of their own.
 *
 * `<-loopback>` takes away the exception that loopback has from proxies; names are never resolved by Chromium itself; QUIC
 * and WebRTC, which use UDP and no proxy, are off.
 */
export function chromiumFlags({ profile, isSandboxed }: FlagOptions): readonly string[] {
  return [
    '--headless',
    '--remote-debugging-pipe',
    `--user-data-dir=${profile}`,
    `--proxy-server=${NO_PROXY}`,
    '--proxy-bypass-list=<-loopback>',
    '--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1',
    '--disable-quic',
    '--force-webrtc-ip-handling-policy=disable_non_proxied_udp',
    '--webrtc-ip-handling-policy=disable_non_proxied_udp',
    '--disable-background-networking',
    '--disable-background-timer-throttling',
    '--disable-backgrounding-occluded-windows',
    '--disable-renderer-backgrounding',
    '--disable-client-side-phishing-detection',
    '--disable-component-update',
    '--disable-default-apps',
    '--disable-domain-reliability',
    '--disable-extensions',
    `--disable-features=${DISABLED_FEATURES.join(',')}`,
    '--disable-popup-blocking',
    '--disable-sync',
    '--metrics-recording-only',
    '--no-pings',
    '--deny-permission-prompts',
    '--disable-breakpad',
    '--disable-crash-reporter',
    '--disable-dev-shm-usage',
    '--disable-gpu',
    '--disk-cache-size=33554432',
    `--js-flags=--max-old-space-size=${MAX_HEAP_MIB}`,
    '--mute-audio',
    '--no-default-browser-check',
    '--no-first-run',
    '--no-startup-window',
    '--password-store=basic',
    '--use-mock-keychain',
    ...(isSandboxed ? [] : ['--no-sandbox']),
  ];
}
