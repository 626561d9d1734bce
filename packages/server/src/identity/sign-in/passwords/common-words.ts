/**
 * The words that occur most often in passwords: at least four letters, lower case, without accents. Attackers try them first:
 * alone, in pairs, doubled, with digits and signs at the ends, and with digits in place of letters. So the list has words, not
 * whole passwords. It was compiled from what the well-known lists of leaked passwords have in common.
 */
const common = `
  password passwort passwd passphrase passcode motdepasse contrasena contrasenya wachtwoord salasana senha parola haslo
  heslo parool lozinka sifre пароль парольпароль secret secreto geheim topsecret mysecret private login logon signin signup
  access admin administrator administration root toor superuser sysadmin system sysop guest user username default changeme
  changeit change letmein letme openup opensesame sesame enter welcome willkommen bienvenue bienvenido tervetuloa tere
  hello hallo hola bonjour ciao goodbye please thanks thankyou temp temporary test testing tester demo sample example
  master security secure server service network internet computer laptop desktop office windows microsoft linux ubuntu
  debian apple macbook iphone ipad android samsung google gmail facebook instagram twitter youtube netflix spotify amazon
  paypal whatsapp telegram linkedin github gitlab docker kubernetes oracle postgres postgresql mysql redis database cisco
  router wifi wireless broadband vodafone mobile phone telephone email mail website webmaster hosting domain cloud backup
  company business work boss money cash dollar bitcoin crypto bank credit million lottery winner success qwerty qwertz
  azerty qwer asdf zxcv qazwsx wsxedc qweasd asdzxc qweqwe asdasd zxczxc poiuyt lkjhgf mnbvcx йцукен ywert iloveyou loveyou
  love lovely lover loves ilove iloveu youandme forever always heart sweet sweetheart sweetie honey darling baby babygirl
  babyboy angel princess prince queen king kingdom beautiful pretty cute hottie sexy kisses kissme hugs friend friends
  bestfriend friendship family mother father mommy daddy mama papa sister brother grandma grandpa children daughter wife
  husband happy happiness smile laugh funny crazy cool awesome amazing perfect super supergirl superstar rockstar monkey
  dragon tiger lion eagle falcon hawk shark dolphin panther puma jaguar wolf bear panda koala rabbit bunny kitten kitty
  hellokitty puppy doggy horse pony unicorn butterfly spider snake cobra turtle penguin chicken turkey donkey elephant
  giraffe mustang bulldog pitbull rottweiler phoenix buster bella buddy maggie sparky lucky lucy ginger pepper peanut
  cookie biscuit cupcake chocolate candy sugar honeybee cheese pizza burger banana orange lemon cherry strawberry blueberry
  pineapple coconut pumpkin potato tomato coffee espresso whiskey vodka beer guinness heineken budweiser corona cocacola
  pepsi football soccer baseball basketball softball volleyball hockey rugby cricket tennis golf golfer boxing wrestling
  racing runner running swimming cycling skate skater skateboard surfing fishing hunting dancing dancer singing guitar
  piano drummer drums music musica metal metallica slipknot nirvana eminem tupac beatles elvis madonna beyonce rihanna
  shakira taylorswift onedirection arsenal chelsea liverpool manchester manutd united barcelona realmadrid juventus bayern
  benfica celtic rangers tottenham everton yankees redsox lakers bulls cowboys steelers packers raiders eagles broncos
  patriots dolphins ronaldo messi jordan kobe superman batman spiderman ironman avengers wolverine joker marvel starwars
  startrek skywalker darthvader yoda matrix trinity morpheus gandalf frodo hobbit hogwarts harrypotter potter voldemort
  pokemon pikachu naruto sasuke goku vegeta sonic mario luigi zelda minecraft fortnite roblox counterstrike warcraft
  starcraft diablo halo xbox playstation nintendo gamer gaming player simpson homer mickey minnie donald pluto tinkerbell
  snoopy garfield scooby scoobydoo spongebob patrick barbie nemo shrek sunshine sunny rainbow summer winter spring autumn
  weather snow snowball snowflake rain storm thunder lightning tornado hurricane ocean beach island paradise flower flowers
  rose lily daisy jasmine violet orchid garden forest mountain moon moonlight star stars galaxy universe planet earth world
  heaven hell devil satan demon angels jesus jesuschrist christ christian blessed faith grace hope mercy amen church bible
  allah muhammad buddha krishna ganesh shiva january february march april june july august september october november
  december monday tuesday wednesday thursday friday saturday sunday birthday christmas easter halloween holiday vacation
  weekend today tomorrow yesterday black white green blue yellow purple silver golden gold diamond crystal ruby emerald
  pearl platinum michael michelle jennifer jessica joshua matthew andrew daniel david robert william thomas charles charlie
  christopher anthony nicholas nicole nathan natalie benjamin brandon justin jason james joseph john johnny jonathan samuel
  samantha steven stephen sarah sophie sophia olivia emma emily elizabeth hannah ashley amanda andrea angela angelina anna
  annie barbara brittany carlos carmen caroline catherine chris christina christine claudia cristina dakota danielle debbie
  dennis diana dominic edward eduardo elena eric esther eugene fernando florian francesco francis frank gabriel gabriela
  george gerald gloria gregory harold heather helen henry isabel isabella jackie jackson jacob janet jasper jeffrey jeremy
  joanna jorge juan julia julian julie karen katherine katie keith kelly kenneth kevin kimberly kristen laura lauren
  leonardo linda lindsey louise lucas madison marcus margaret maria marina mark marie martin martina mary melissa miguel
  monica morgan oliver oscar pamela patricia paul pedro peter philip phillip rachel raymond rebecca ricardo richard robin
  roger ronald russell ryan sabrina sandra scott sebastian sharon simon stefan stephanie susan sydney sylvia tamara taylor
  teresa theodore tiffany timothy tyler valentina valerie vanessa veronica victor victoria vincent vladimir walter wendy
  xavier yvonne zachary ivan olga natasha svetlana dmitri sergey alexander alexandra alexis aleksandr mohamed mohammed
  ahmed fatima hassan ibrahim london paris berlin madrid roma rome milano vienna dublin moscow moskva tokyo beijing
  shanghai singapore melbourne toronto montreal newyork chicago boston dallas houston denver austin atlanta miami florida
  california texas hollywood losangeles america american england english britain scotland ireland france germany
  deutschland espana spain italia italy portugal brasil brazil argentina mexico canada australia russia ukraine poland
  polska sweden sverige norway norge finland suomi denmark estonia eesti tallinn latvia lithuania india pakistan china
  japan korea istanbul israel egypt africa nigeria kenya mercedes ferrari porsche lamborghini audi volkswagen toyota honda
  yamaha suzuki kawasaki ducati harley harleydavidson chevy corvette camaro ford nissan mazda subaru volvo tesla jeep truck
  motorcycle racecar killer hunter ranger sniper soldier warrior ninja samurai knight wizard magic magical merlin pirate
  cowboy maverick ghost shadow darkness nightmare midnight hacker hacked phantom legend legendary champion captain
  commander general marine army navy police freedom liberty justice peace power powerful energy strong strength trustno
  trustnoone whatever nothing something anything everything nobody somebody bigboy bigdog fuckyou fuckoff asshole bullshit
  biteme abcdef abcd qwertyuiop asdfghjkl zxcvbnm correct battery staple correcthorsebatterystaple unbelievable incredible zaqxsw blink wsxzaq mynoob
  dearbook samsunggalaxy azertyuiop internetexplorer teacher student school college university homework science history
  physics chemistry biology nurse doctor hospital medical dentist engineer developer designer trustme secretword mypassword
  mypass newpassword oldpassword mylogin mypasswort
`;

/** Product words, which attackers of Usher's users try first. */
const product = `
  usher ushers operator operators console engagement engagements engage engaged queue queues visitor visitors webhook
  webhooks widget supervisor manager managers supermanager supermanagers account accounts site sites team teams ticket
  tickets transfer transfers offer offers routing board desk helpdesk frontdesk servicedesk support supporter customer
  customers customerservice client clients contact contacts contactcenter callcenter callcentre center centre chat chats
  livechat chatting message messages conversation presence available channel channels session sessions token tokens
  invitation application feed event events delivery hours openinghours schedule welcome assistant help reception
  receptionist hotline sales
`;

/** Keyboard walks that do not follow a row. */
const walks =
  '1qaz 2wsx 3edc 4rfv 5tgb 6yhn 7ujm 1q2w 2w3e 3e4r 4r5t 5t6y 6y7u 7u8i 8i9o zaq1 xsw2 cde3 vfr4 bgt5 q1w2 e3r4 t5y6';

export const commonWords: ReadonlySet<string> = new Set(
  `${common} ${product} ${walks}`.split(/\s+/).filter((word) => word !== ''),
);
