//! Credentials in files of many types, and values that only look like credentials.
//!
//! The values are generated when a test runs, so that no credential that looks real is in a file.
//! The same seed generates the same values.

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};

/// A file with credentials in it.
pub struct PlantedFile {
    /// The path of the file in the repository.
    pub path: &'static str,
    /// The text of the file.
    pub text: String,
    /// The credentials in the order of their lines.
    pub secrets: Vec<Secret>,
}

/// A credential in a file.
pub struct Secret {
    /// The line on which the credential begins.
    pub line: u32,
    /// The texts that must not be seen: one value, or the lines of a private key.
    pub values: Vec<String>,
}

const UPPER: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
const LOWER: &str = "abcdefghijklmnopqrstuvwxyz";
const DIGITS: &str = "23456789";

/// The files as templates. In a line, `{A32}` is replaced by 32 random letters and digits, `{X64}`
/// by hexadecimal digits, `{P}` by a password as people choose them, `{R}` by a random one, `{U}`
/// by a UUID, `{J}` by a JSON Web Token, `{BP}` by a password in base64, `{LP}` by a user and a
/// password in base64, `{K}` by a private key on one line and `{M}` by one on many lines.
const FILES: [(&str, &str); 28] = [
    (
        "shop/.env",
        "APP_NAME=shop\nDB_PASSWORD={P}\nAWS_SECRET_ACCESS_KEY={A40}\nexport STRIPE_KEY=sk_live_{A24}\nREDIS_URL=redis://:{A16}@cache.shop.io:6379/0\nSESSION_SECRET=\"{A32}\"\n",
    ),
    (
        "config/database.yml",
        "production:\n  adapter: postgresql\n  username: shop\n  password: {P}\n  secret_key_base: {X64}\n  api_token: {A32}\n",
    ),
    ("config/block.yaml", "mail:\n  host: smtp.shop.io\n  password: >-\n    {R}\n  port: 25\n"),
    (
        "config/settings.ini",
        "[mail]\nhost = smtp.shop.io\npassword = {P}\n\n[geo]\napi_key = {A32}\n",
    ),
    (
        "src/main/resources/application.properties",
        "server.port=8080\nspring.datasource.password={P}\njwt.secret={A40}\ngeo.api-key: {A32}\n",
    ),
    (
        "Dockerfile",
        "FROM debian:12\nENV DB_PASSWORD={P}\nENV API_TOKEN {A32}\nARG NPM_TOKEN=npm_{A36}\n",
    ),
    (
        "deploy.sh",
        "#!/bin/sh\nset -e\nexport API_KEY={A32}\ncurl -u deploy:{P} https://api.shop.io/status\nmysql -u shop -p{R} shop < dump.sql\nsshpass -p {P} ssh deploy@shop.io\nPGPASSWORD={P} psql -h db.shop.io shop\ncurl -H \"Authorization: Bearer {A40}\" https://api.shop.io\nrelease --password {P} --channel stable\nrelease --token={A32} --channel stable\n",
    ),
    (
        ".npmrc",
        "registry=https://registry.npmjs.org/\n//registry.npmjs.org/:_authToken={U}\n_auth={LP}\n",
    ),
    (".netrc", "machine api.shop.io login deploy password {P}\n"),
    (
        "conf/settings.xml",
        "<settings>\n  <server>\n    <username>deploy</username>\n    <password>{P}</password>\n  </server>\n  <add key=\"GeoApiKey\" value=\"{A32}\"/>\n  <property name=\"hibernate.connection.password\" value=\"{P}\"/>\n</settings>\n",
    ),
    (
        "k8s/secret.yaml",
        "apiVersion: v1\nkind: Secret\nmetadata:\n  name: shop\ndata:\n  password: {BP}\n  username: c2hvcA==\nstringData:\n  geo: {A32}\n",
    ),
    (
        "k8s/deployment.yaml",
        "kind: Deployment\nspec:\n  containers:\n    - name: shop\n      env:\n        - name: DB_PASSWORD\n          value: {P}\n        - name: LOG_LEVEL\n          value: debug\n",
    ),
    (
        "service-account.json",
        "{\n  \"type\": \"service_account\",\n  \"private_key\": \"{K}\",\n  \"client_email\": \"shop@shop.io\"\n}\n",
    ),
    (
        "config/app.json",
        "{\n  \"password\": \"{P}\",\n  \"clientSecret\": \"{A32}\",\n  \"auths\": { \"registry.shop.io\": { \"auth\": \"{LP}\" } },\n  \"db\": \"Server=db.shop.io;User Id=shop;Password={R};\"\n}\n",
    ),
    (
        "shop/app.py",
        "import os\n\nos.environ[\"API_KEY\"] = \"{A32}\"\nSHIPPING_API_TOKEN = \"{A32}\"\ndb_password: str = \"{P}\"\nheaders = {\"Authorization\": \"Bearer {J}\"}\n\n\ndef connect(db):\n    return db.connect(user=\"shop\", password=\"{P}\")\n",
    ),
    (
        "cmd/main.go",
        "package main\n\nvar apiKey string = \"{A32}\"\n\nfunc address() string {\n\treturn \"postgres://shop:{R}@db.shop.io/shop\"\n}\n",
    ),
    (
        "web/app.js",
        "const session = '{J}';\nconst apiKey = process.env.API_KEY || '{A32}';\nexport const mail = { user: 'shop', pass: '{P}' };\n",
    ),
    (
        "src/Main.java",
        "class Main {\n    private static final String SECRET = \"{A32}\";\n    void set(Properties properties) {\n        properties.setProperty(\"password\", \"{R}\");\n    }\n}\n",
    ),
    (
        "infra/main.tf",
        "resource \"db\" \"shop\" {\n  username = \"shop\"\n  password = \"{P}\"\n  secret_key = \"{A40}\"\n}\n",
    ),
    ("keys/server.pem", "{M}\n"),
    (
        "docker-compose.yml",
        "services:\n  db:\n    environment:\n      - MYSQL_ROOT_PASSWORD={P}\n  web:\n    environment:\n      POSTGRES_PASSWORD: {P}\n",
    ),
    (
        "db/init.sql",
        "CREATE USER 'shop'@'%' IDENTIFIED BY '{P}';\nALTER USER shop WITH PASSWORD '{P}';\n",
    ),
    ("public/config.php", "<?php\ndefine('DB_PASSWORD', '{P}');\nreturn ['secret' => '{A24}'];\n"),
    ("config/shop.toml", "[database]\nuser = \"shop\"\npassword = \"{P}\"\n"),
    ("src/lib.rs", "pub const API_KEY: &str = \"{A32}\";\n"),
    ("config/secrets.rb", "Shop.configure do |config|\n  config.secret_key = \"{X64}\"\nend\n"),
    ("docs/setup.md", "Run it so:\n\n    git clone https://deploy:{R}@git.shop.io/shop.git\n"),
    ("gradle.properties", "org.gradle.daemon=true\nsigningPassword={P}\n"),
];

/// Returns the files with their credentials.
pub fn planted(seed: u64) -> Vec<PlantedFile> {
    let mut random = Random(seed);
    FILES.iter().map(|(path, template)| random.plant(path, template)).collect()
}

/// A generator of random characters, which are the same for the same seed.
pub struct Random(pub u64);

impl Random {
    /// Returns a number below a limit.
    pub fn below(&mut self, limit: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit
    }

    /// Returns random characters of an alphabet.
    pub fn text(&mut self, alphabet: &str, count: usize) -> String {
        let alphabet = alphabet.as_bytes();
        (0..count).map(|_| char::from(alphabet[self.below(alphabet.len())])).collect()
    }

    fn plant(&mut self, path: &'static str, template: &str) -> PlantedFile {
        let mut file = PlantedFile { path, text: String::new(), secrets: Vec::new() };
        let mut rest = template;
        while let Some((before, form, after)) = next_form(rest) {
            file.text.push_str(before);
            let line = file.text.matches('\n').count() as u32 + 1;
            let (text, values) = self.make(form);
            let is_on_lines = text.contains('\n');
            file.secrets.push(Secret { line: line + u32::from(is_on_lines), values });
            file.text.push_str(&text);
            rest = after;
        }
        file.text.push_str(rest);
        file
    }

    /// Generates a credential of a form. Returns its text, and the texts that must not be seen.
    pub fn make(&mut self, form: &str) -> (String, Vec<String>) {
        let one = match form {
            "P" => self.password(),
            "R" => self.mixed(16),
            "U" => self.uuid(),
            "J" => self.web_token(),
            "BP" => STANDARD.encode(self.password()),
            "LP" => STANDARD.encode(format!("deploy:{}", self.password())),
            "K" | "M" => return self.key(if form == "K" { "\\n" } else { "\n" }),
            _ => match (form.split_at(1).0, form[1..].parse::<usize>().unwrap()) {
                ("X", count) => self.text("0123456789abcdef", count),
                (_, count) => self.mixed(count),
            },
        };
        (one.clone(), vec![one])
    }

    /// Returns a password as people choose them.
    fn password(&mut self) -> String {
        const WORDS: [&str; 6] = ["Kestrel", "harbour", "Lantern", "glacier", "Tundra", "saffron"];
        let word = WORDS[self.below(WORDS.len())];
        let number = self.text(DIGITS, 4);
        let sign = ["!", "#", "*", "?"][self.below(4)];
        match self.below(3) {
            0 => format!("{word}{sign}{number}"),
            1 => format!("{number}{sign}{word}"),
            _ => self.mixed(14),
        }
    }

    /// Returns random letters and digits that contain no word by chance.
    fn mixed(&mut self, count: usize) -> String {
        (0..count).map(|at| self.text([UPPER, LOWER, DIGITS][at % 3], 1)).collect()
    }

    fn uuid(&mut self) -> String {
        let parts = [8, 4, 4, 4, 12].map(|count| self.text("0123456789abcdef", count));
        parts.join("-")
    }

    fn web_token(&mut self) -> String {
        let head = URL_SAFE_NO_PAD.encode("{\"alg\":\"HS256\",\"typ\":\"JWT\"}");
        let payload = format!("{{\"user\":\"{}\"}}", self.text(LOWER, 12));
        let payload = URL_SAFE_NO_PAD.encode(payload);
        format!("{head}.{payload}.{}", self.mixed(43))
    }

    fn key(&mut self, line_end: &str) -> (String, Vec<String>) {
        let lines: Vec<String> = [64, 64, 64, 28].map(|count| self.mixed(count)).to_vec();
        let (begin, end) = ("-----BEGIN", "-----END");
        let text = format!(
            "{begin} PRIVATE KEY-----{line_end}{}{line_end}{end} PRIVATE KEY-----{line_end}",
            lines.join(line_end)
        );
        (text, lines)
    }
}

/// Splits a template at its next form.
fn next_form(template: &str) -> Option<(&str, &str, &str)> {
    let mut from = 0;
    loop {
        let start = from + template[from..].find('{')?;
        let end = start + template[start..].find('}')?;
        let form = &template[start + 1..end];
        let is_form = matches!(form, "P" | "R" | "U" | "J" | "BP" | "LP" | "K" | "M")
            || (form.starts_with(['A', 'X'])
                && form.len() > 1
                && form[1..].bytes().all(|b| b.is_ascii_digit()));
        if is_form {
            return Some((&template[..start], form, &template[end + 1..]));
        }
        from = start + 1;
    }
}

/// Lines that look like credentials to a scanner and are none, each with its file.
pub const LOOK_ALIKES: [(&str, &str); 52] = [
    ("a.py", "commit = \"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b\""),
    ("a.py", "password_hash = \"$2b$12$EixZaYVK1fsbw1ZfbX3OXePaWxn96p36WQoeG6Lruj3vjPGga31lW\""),
    ("a.py", "request_id = \"123e4567-e89b-42d3-a456-426614174000\""),
    ("a.py", "session_token = \"123e4567-e89b-42d3-a456-426614174000\""),
    (".env", "DB_PASSWORD=changeme"),
    (".env", "API_KEY=<your-key>"),
    (".env", "API_KEY=your-api-key-here-1234"),
    (".env", "DB_PASSWORD=${DATABASE_PASSWORD_1}"),
    (".env", "API_TOKEN=xxxxxxxxxxxxxxxxxxxx"),
    (".env", "API_TOKEN="),
    (".env", "SECRET_KEY=replace-me-with-32-characters"),
    (".env", "DB_PASSWORD=password123"),
    ("a.py", "aws_secret_access_key = \"wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY\""),
    ("a.py", "aws_access_key_id = \"AKIAIOSFODNN7EXAMPLE\""),
    (
        "a.pub",
        "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ7vKz1qf3mYb0u7W3o3xq5Jc9s1n2p4r6t8v0x2z4B6 shop@shop.io",
    ),
    (
        "a.pem",
        "-----BEGIN PUBLIC KEY-----\nMIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAu1SU1LfVLPHCozMxH2Mo4lgOEePzNm0t\n-----END PUBLIC KEY-----",
    ),
    (
        "a.pem",
        "-----BEGIN CERTIFICATE-----\nMIIDdzCCAl+gAwIBAgIEAgAAuTANBgkqhkiG9w0BAQUFADBaMQswCQYDVQQGEwJJRTESMBAGA1UE\n-----END CERTIFICATE-----",
    ),
    (
        "Cargo.toml",
        "checksum = \"d468802bab17cbc0cc575e9b053f41e72aa36bfa6b7f55e3529ffa43161b97fa\"",
    ),
    (
        "a.json",
        "\"integrity\": \"sha512-v2kDEe57lecTulaDIuNTPy3Ry4gLGJ6Z1O3vE1krgXZNrsQ+LFTGHVxVjcXPs17LhbZVGedAJv8XZ1tvj5FvSg==\"",
    ),
    (
        "a.html",
        "<script integrity=\"sha384-oqVuAfXRKap7fdgcCY5uykM6+R9GqQ8K/uxy9rx7HNQlGYl1kPzQho1wx4JwY8wC\"></script>",
    ),
    ("a.py", "password: str"),
    ("a.py", "def login(user: str, password: str, token: Optional[str] = None) -> bool:"),
    ("a.ts", "password: string;"),
    ("a.ts", "token: Uint8Array"),
    ("a.py", "password = input()"),
    ("a.py", "password = getpass.getpass(\"Password 2: \")"),
    ("de.json", "\"password\": \"Passwort\""),
    ("de.json", "\"password\": \"Das Passwort braucht 8 Zeichen\""),
    ("fr.json", "\"password\": \"Mot de passe\""),
    ("a.html", "<label for=\"password\">Password *</label>"),
    (
        "a.html",
        "<input type=\"password\" name=\"password\" value=\"\" placeholder=\"Password (8+ characters)\">",
    ),
    ("a.py", "password = os.environ[\"DB_PASSWORD_2024\"]"),
    ("a.js", "const apiKey = process.env.GEO_API_KEY_V2;"),
    ("a.rb", "secret = ENV.fetch(\"APP_SECRET_KEY_2\")"),
    ("a.yml", "password: ${{ secrets.DB_PASSWORD_2 }}"),
    ("a.yml", "password: \"{{ .Values.db.password1 }}\""),
    ("a.tf", "password = var.db_password_1"),
    ("a.tf", "secret = data.vault_secret.shop2.data[\"password\"]"),
    ("a.yml", "secretName: shop-tls-2024"),
    ("a.properties", "spring.datasource.password=@db.password1@"),
    ("a.xml", "<password>${env.DB_PASSWORD1}</password>"),
    ("a.sh", "curl -u \"$USER:$PASSWORD1\" https://api.shop.io"),
    ("a.sh", "mysql -u shop -p\"$MYSQL_PASSWORD1\" shop"),
    ("a.md", "postgres://user:password@localhost:5432/shop"),
    ("a.md", "https://user:pass@example.com/path"),
    ("a.md", "Authorization: Bearer <token>"),
    ("a.md", "Authorization: Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="),
    (
        "a.md",
        "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4gRG9lIiwiaWF0IjoxNTE2MjM5MDIyfQ.SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV_adQssw5c",
    ),
    ("a.go", "nextPageToken := \"CAUQAA8f2b71c04d9e3a5677\""),
    ("a.js", "const tokenUrl = 'https://login.shop.io/oauth2/v2.0/token';"),
    ("a.py", "sha256 = \"2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824\""),
    (
        "a.rs",
        "assert_eq!(hash(\"secret\"), \"2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b\");",
    ),
];
