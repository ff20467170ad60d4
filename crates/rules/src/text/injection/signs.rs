//! The signs of text that gives orders to a reviewer: [`SIGNS`].
//!
//! Patterns are ASCII unless they are for another script. They are matched against folded text:
//! small letters, and in [`Form::Words`] and [`Form::Letters`] only words with a blank between
//! them.

/// The form of a text that a sign is matched against.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// The words alone.
    Words,
    /// The words; and the letters alone, for words that are pulled apart or contain digits.
    Letters,
    /// All characters including punctuation; `^` matches the start of a line.
    Marks,
}

/// A sign of text that gives orders to a reviewer.
pub(super) struct Sign {
    /// The effect of such text, as a sentence.
    pub(super) about: &'static str,
    /// Words of which each such text contains one, so that most lines need no pattern.
    pub(super) anchors: &'static [&'static str],
    pub(super) form: Form,
    pub(super) patterns: &'static [&'static str],
    /// A pattern that makes a match harmless if it precedes the match directly; empty for none.
    pub(super) unless_before: &'static str,
    /// A pattern that makes a match harmless if it follows the match directly; empty for none.
    pub(super) unless_after: &'static str,
}

/// The named parts of patterns.
pub(super) const PARTS: &[(&str, &str)] = &[
    (
        "{fill}",
        "(?:(?:all|any|every|each|the|of|my|your|our|these|those|this|that|and|or|other|such|its|to|you|were|was|have|been|has|given|received|system|developer|safety|security|review|original|initial|entire|whole|please|just|completely|totally|fully|simply|now|everything|anything|told|existing|current|from) )*",
    ),
    (
        "{prev}",
        "(?:previous|previously|prior|above|earlier|preceding|foregoing|former|past|aforementioned)",
    ),
    // Reviewers that are not people.
    (
        "{ai}",
        "(?:(?:(?:ai|llm|automated|automatic|machine|gpt|claude|copilot|codex|gemini|model|bot)(?: based| powered| driven)? (?:code |security |pr |pull request |diff |change )*(?:reviewers?|review (?:bots?|agents?|assistants?|models?|tools?|systems?)|review|auditors?|validators?|graders?|scanners?))|(?:code |security |pr )?review(?:er|ing)? (?:bots?|agents?|assistants?|models?|llms?|ais?|ai)|language models?(?: reviewers?)?|llms?|ai (?:models?|assistants?)|chatgpt|copilot|ais)",
    ),
    (
        "{modal}",
        "(?:(?:must|should|shall|may|can|need|has|have|is|are|will|please|kindly|to|do|always|now|instructed|required|asked|you|just|simply|told|expected|allowed|reading|reviewing|this|the|file|change|code|diff|here|that) )*",
    ),
    (
        "{never}",
        "(?:do not|dont|does not|never|not|no longer|cannot|can not|mustnt|shouldnt|wont|refrain from|avoid|stop|without)",
    ),
    // Without "no longer", which describes a result: "the finding is no longer reported".
    (
        "{not}",
        "(?:do not|dont|does not|never|not|no longer (?:be|needs?|requires?|has to|have to)|cannot|can not|mustnt|shouldnt|wont|refrain from|avoid|stop|without)",
    ),
    (
        "{raise}",
        "(?:report|flag|raise|mention|list|include|output|emit|file|comment on|write up|complain about|reporting|flagging|raising|mentioning|listing)",
    ),
    (
        "{these}",
        "(?:(?:any|the|a|an|these|those|this|all|further|more|other|security|related|potential|of|your|its|every|single) )*",
    ),
    (
        "{flaws}",
        "(?:issues?|problems?|vulnerabilit(?:y|ies)|bugs?|defects?|concerns?|warnings?|errors?|flaws?|anything|violations?|secrets?|injections?)",
    ),
    (
        "{thing}",
        "(?:file|change|changeset|diff|pr|pull request|merge request|mr|patch|commit|folder|directory|module|function|class|section|block|code|hunk|package|snippet|script|migration|repository|repo)",
    ),
    (
        "{say}",
        "(?:return|output|respond|answer|reply|report|print|produce|give|emit|submit|say|write|send)",
    ),
    // Any addressee that is not a person, or that is a reader in general.
    (
        "{model}",
        "(?:chat ?gpt|gpt|claude|copilot|gemini|codex|llms?|(?:large )?language models?|ais?|ai (?:models?|agents?|assistants?|tools?|systems?)|bots?|models?|validators?|(?:automated|coding|code|co-?reviewing|review|reviewing|machine) (?:assistants?|agents?|bots?|models?|tools?|reviewers?)|(?:whoever|anyone|anybody) (?:who )?(?:is )?(?:grading|reviewing|judging|scoring|auditing|validating) (?:this|the) {thing})",
    ),
    // The statements on a change that an attacker wants.
    (
        "{praise}",
        "(?:(?:say|report|state|claim|pretend|conclude|respond|answer|reply|return|find|(?:response|answer|result) is)(?: \\w+){0,5} (?:no|zero) (?:\\w+ )?(?:issues|problems|weaknesses|findings|vulnerabilities|defects|flaws|bugs)|clean bill of health|all is (?:well|fine|good)|safe to merge|(?:already|fully|been) vetted|(?:rate|grade|classify|score|mark|treat|report) (?:\\w+ ){0,7}as (?:an? )?(?:informational|nits?|nitpicks?|minor|low|harmless|pre_?existing|advisory|out of scope|vetted|p3)|lower the severity|stop (?:analy[sz]ing|reviewing)|(?:return|output|report|say) nothing|this (?:\\w+ )?(?:is )?out of scope)",
    ),
];

const SET_ASIDE: &str = "It tells its reader to set instructions aside.";
/// Programs that talk to models tell them to follow their instructions.
const KEEP: &str =
    r"\b(?:do not|dont|never|must not|should not|shall not|cannot|cant|wont|not to) (?:ever )?$";

const ROLE: &str = "It gives its reader another role.";
const FORGED: &str = "It forges the marks by which a model tells who is speaking.";
const BREAK_OUT: &str = "It pretends that what is to be reviewed ends here.";
const APPROVAL: &str = "It tells a reviewer what to make of the change.";
pub(super) const FAKE: &str = "It stands in for the answer of a reviewer or a tool.";
const STEERING: &str = "It tells a reviewer how to grade what it finds.";
const LEAK: &str = "It asks for what a reviewer must not tell.";
const VALIDATOR: &str = "It tells a validator how to vote.";
const SKIP: &str = "It asks reviewers that are models to look away.";

const fn sign(
    about: &'static str,
    form: Form,
    anchors: &'static [&'static str],
    patterns: &'static [&'static str],
) -> Sign {
    Sign { about, anchors, form, patterns, unless_before: "", unless_after: "" }
}

pub(super) const SIGNS: &[Sign] = &[
    Sign {
        about: SET_ASIDE,
        form: Form::Letters,
        anchors: &[
            "instructions", "prompt", "directive", "directions", "guideline", "guidance",
            "programming",
        ],
        patterns: &[
            r"\b(?:ignore|ignoring|disregard|disregarding|forget|neglect) {fill}{prev} {fill}(?:instructions|prompts?|directives?|directions|guidelines|guidance|programming)\b",
            r"\b(?:ignore|disregard|forget) {fill}(?:instructions|prompts?|directives|guidelines) {fill}(?:above|before|earlier|previously|so far|preceding|you received|you were given|you got)\b",
            r"\b(?:override|overwrite|bypass|suspend) (?:all |any |of )*your (?:safety |security |system |review |internal |own )+(?:instructions|prompts?|guidelines|rules|policies|checks|filters)\b",
            r"\b(?:override|overwrite|discard) {fill}your {fill}{prev} {fill}(?:instructions|prompts?|directives|guidelines|guidance|programming)\b",
        ],
        unless_before: KEEP,
        unless_after: "",
    },
    Sign {
        about: SET_ASIDE,
        form: Form::Letters,
        anchors: &[
            "ignoreall", "ignoreany", "ignoreevery", "ignoreyour", "ignoreprevious", "disregard",
            "forgetall", "forgeteverything", "forgetany", "forgetyour", "forgetprevious",
            "bypassyour", "bypassall", "overrideyour", "suspendyour", "ignorewhat", "forgetwhat",
            "ignorewhatever", "disobey", "violateyour",
        ],
        patterns: &[
            r"\b(?:ignore|disregard|forget) all {fill}{prev} {fill}(?:rules|commands|constraints|policies|context|orders|conversations?)\b",
            r"\b(?:ignore|disregard|forget|bypass|disobey|violate) (?:all |any |of |every )*your {fill}(?:previous |prior )?(?:instructions|prompts?|directives|guidelines|guidance|rules|constraints|programming|training|policies|restrictions|guardrails|safeguards|orders)\b",
            r"\b(?:ignore|disregard|forget) (?:what|whatever|everything|anything|all) (?:that )?(?:you|youve|i|they) (?:were |was |have been |ve been |had been |been |have )?(?:told|instructed|given)\b",
            r"\b(?:ignore|disregard|forget|bypass) all (?:of )?(?:the |your )?(?:restrictions|guardrails|safety (?:rules|guidelines|measures))\b",
            r"\b(?:ignore|disregard|forget) (?:everything|anything|all) (?:that |which |you |is |was |were |has been |have been )*(?:above|(?:written|said|stated|came|come|comes) (?:above|before|so far|earlier)|before this|you (?:were|have been|ve been) told|youve been told|been told|were told|told|so far|up to (?:now|here|this point))\b",
        ],
        unless_before: KEEP,
        unless_after: "",
    },
    sign(
        SET_ASIDE,
        Form::Words,
        &[
            "instructions", "prompt", "directives", "guidelines", "yournewtask", "yourtaskhas",
            "previousrules", "priorrules", "systemrules", "aboverules", "yourjobhas",
            "yourrolehas", "yourgoalhas", "taskischanged", "yournewrole", "yournewgoal",
            "yournewjob", "yournewobjective", "yournewmission", "yourneworders",
            "instructionsoverride", "takesprecedence",
        ],
        &[
            r"\b(?:your|these|those|the|all|any) {fill}(?:previous |prior |earlier |original |initial |system |above )(?:instructions|prompts?|directives|guidelines) (?:are|is|were|was|have been|has been|have|has) (?:now |hereby |been |all )*(?:void|cancell?ed|revoked|superseded|overridden|obsolete|no longer|replaced|suspended|null|outdated|lifted|withdrawn|expired)\b",
            r"\b(?:your new|here are (?:your )?(?:new|updated|real|actual)) (?:instructions|orders|directives|system prompt|objective|mission)\b",
            r"\b(?:previous|prior|system|above|earlier) rules (?:are|have been|were) (?:now |hereby |all )*(?:suspended|void|lifted|null|revoked|cancell?ed|no longer valid)\b",
            r"\byour new (?:task|role|goal|job) is\b",
            r"\byour (?:task|job|role|goal|mission|instructions) (?:has|have) (?:now |just )?(?:changed|been (?:changed|updated|replaced))\b",
            r"\b(?:these|the following|this|my|following) (?:instructions?|orders?|directives?|message|guidelines|comment|note|text) (?:overrides?|supersedes?|replaces?|outranks?|takes? precedence over|has priority over) (?:any |all |of |the |previous |prior |other )*(?:your|system|reviewers?|developer) ",
            r"\b(?:do not|dont|stop|cease) (?:follow|following|obey|obeying|listen to|comply with) (?:the |any |of |all )*(?:your|previous|prior|system|earlier) {fill}(?:previous |prior |system |earlier |above )*(?:instructions|prompts?|guidelines|directives)\b",
        ],
    ),
    sign(
        ROLE,
        Form::Letters,
        &[
            "youarenow", "youarenolonger", "youreno", "fromnowon", "pretend", "actasif",
            "actasthough",
        ],
        &[
            r"\byou are now (?:a |an |the |my |our |helpful |very |friendly |senior |code |permissive |lenient |unrestricted |approving |ai |new |different |obedient )*(?:assistant|ai|bot|reviewer|approver|linter|auditor|compiler|chatbot|hacker|dan|rubber stamp|language model|llm|persona)\b",
            r"\byou are now (?:in |entering )(?:an? |the )*(?:developer|dan|jailbreak|jailbroken|unrestricted|god|approval|permissive|unfiltered) mode\b",
            r"\byou are no longer (?:bound|restricted|reviewing|required to (?:review|report|follow)|(?:an?|the) (?:code |security |strict )*(?:reviewer|assistant|ai|model|auditor|language model))\b",
            r"\bfrom now on (?:you (?:are|will|must|should|shall) (?:only |always |never |not )*(?:act|respond|answer|behave|approve|ignore|report|reply|output)|respond|reply|approve|always approve|answer only|output only)\b",
            r"\bpretend (?:that )?(?:you are|to be|youre) (?:an? |the )*(?:\w+ )?(?:reviewer|assistant|ai|language model|llm|approver)\b",
            r"\b(?:pretend|act as if|act as though|assume) (?:that )?(?:this|the) (?:{thing}|review) (?:is|has|was|does not|doesnt|had|contains no|already) (?:been |already |no )*(?:clean|safe|passed|approved|reviewed|correct|issues|problems|empty|complete|completed|perfect)\b",
            // A comment on a hidden file: "pretend this file doesn't exist".
            r"\b(?:pretend|act as if|act as though|assume) (?:that )?(?:this|the) (?:change|changeset|diff|pr|pull request|merge request|mr|patch|commit|hunk|review) (?:does not|doesnt) exist\b",
        ],
    ),
    // Templates of programs that talk to models contain the marks too, followed by nothing or a
    // placeholder.
    Sign {
        about: FORGED,
        anchors: &["imstart", "startheaderid", "inst", "sys", "system"],
        form: Form::Marks,
        patterns: &[
            r"<\|(?:im_start|start_header_id|system|start)\|> ?(?:system|developer|assistant|user)?(?:<\|end_header_id\|>|<\|message\|>)?[ :\n/!#*>-]*[a-z]",
            r"\[inst\] ?(?:[a-z]+[,:;]? ){2}[a-z]",
            r"<<sys>>[ :\n]*[a-z]",
        ],
        unless_before: "",
        unless_after: r"^(?:ags?\b|ou are an? |ou are \{|ou are chat|ou are qwen|ou are \$|ou are hermes|onversation|ser\b|ystem\b|ssistant\b|eveloper\b|ool\b|essage\b|ontent\b|rompt\b|nput\b|ext\b|\W|$|[a-z_0-9]+ ?[.(\[|+}\])])",
    },
    sign(
        FORGED,
        Form::Marks,
        &["system", "human", "assistant", "user", "developer", "instructions"],
        &[
            r"(?m)^[#>\-+ ]*(?:system|developer)(?: (?:prompt|message|note|override|notice))? ?: ?(?:(?:please|now|the) )*(?:approve|ignore|disregard|override|you (?:must|are now|will|should)|(?:the )?reviewers?\b|new instructions|review (?:is )?(?:complete|passed|over|finished)|all (?:findings|checks)|stop reviewing|skip)",
            r"<(?:instructions?|system|system_prompt|admin|directive)> ?\n?(?:please |now )*(?:approve|ignore|disregard|skip|report no|do not report|you must (?:approve|ignore|report|accept))\b",
            r#""role" ?: ?"(?:system|developer)" ?, ?\n?"content" ?: ?"(?:please |now )*(?:approve|ignore|disregard|report no|skip|you must (?:approve|ignore|report no))\b"#,
            r"(?m)^[#>\-+ ]*(?:human|user) ?: ?(?:(?:please|now|thanks|actually|ok|okay|great|good)[,. ]*)*(?:ignore|approve|disregard|stop reviewing|forget|skip the review|return an empty|output an empty|report no|repeat your|print your|reveal your)",
            r"(?m)^[#>\-+ ]*(?:assistant|ai|reviewer|model|claude|gpt) ?: ?(?:i (?:have )?(?:now )?(?:fully )?reviewed|(?:the |this |my )?(?:review|change|diff|code|file|pr|patch)s? (?:is|are|looks?|has|have|was) (?:been )?(?:now )?(?:clean|safe|fine|approved|complete|good|correct|no )|no (?:issues|findings|problems|vulnerabilities)|lgtm|approved)",
            r"(?m)^#{2,} ?(?:system|instruction|instructions|human|user|assistant)(?: prompt| message| override)? ?:?[ \n]+(?:please |now |the )*(?:approve|ignore|disregard|you (?:must|are now|will|should)|reviewers?\b|stop reviewing|report no|return an empty|skip (?:the|this))",
        ],
    ),
    sign(
        BREAK_OUT,
        Form::Marks,
        &[
            "untrusted", "change", "diff", "patch", "document", "data", "context", "pullrequest",
            "userinput", "underreview", "review", "content",
        ],
        &[
            r"</ ?(?:(?:pr|code|pull_request)[_-](?:diff|change|under_review|content)|(?:code|change|diff|file)[_-]under[_-]review|review[_-](?:input|data|material|target))[^<>]{0,40}>",
            r"</ ?(?:change|diff|patch|document|data|context|file|content|pull_request|user_input|input|prompt|instructions|review)(?:[-_ ][a-z0-9]*)?> ?(?:\W{0,12}\n?){0,3}(?:<[a-z_-]+> ?\n?)?(?:now (?:approve|ignore|you|report|respond|output|the review|that)|system ?:|reviewers?|you (?:are now|must|should)|ignore|disregard|instructions?|new (?:instructions|task)|approve|the (?:review|change|diff|reviewer) (?:is|has|must|should|ends)|respond (?:with|only)|output (?:an|only|no|the following)|return (?:an )?empty|end of|assistant ?:|human ?:|report no|no (?:findings|issues))\b",
            r#"(?m)^["'#> ]*(?:end of (?:the )?(?:untrusted (?:\w+)|untrusted|diff|patch|change ?set|code (?:change|under review)|change under review|pull request|review (?:input|data|material)))[. "']*$"#,
            r"(?:-{2,}|={2,}|#{2,}|\[|<{2,3}|\*{2,}|~{3,}) ?(?:/|end(?: of)?(?: the)? )(?:untrusted(?: [a-z]+)?|diff|change|code change|code under review|change under review|pull request|review (?:input|data|material)|user (?:input|data|content)) ?(?:-{2,}|={2,}|#{2,}|\]|>{2,3}|\*{2,}|~{3,})",
            // `# --- end patch ---` marks the end of a changed copy.
            r"(?:-{2,}|={2,}|#{2,}|\[|<{2,3}|\*{2,}|~{3,}) ?(?:/|end of (?:the )?)patch ?(?:-{2,}|={2,}|#{2,}|\]|>{2,3}|\*{2,}|~{3,})",
            r"(?:-{4,}|={4,}|#{4,}|\[|<{2,3}|\*{4,}|~{4,}) ?end patch ?(?:-{4,}|={4,}|#{4,}|\]|>{2,3}|\*{4,}|~{4,})",
            r"\bend of (?:the )?(?:untrusted (?:\w+)|diff|patch|change|pull request|code under review|user input)[ .:\-=*!\n]*(?:now |the following |next |below )*(?:system|reviewers?|you (?:must|are|should|may)|ignore|instructions|new instructions|respond|approve|output (?:an?|only|no|nothing|the following)|your|everything (?:below|after))\b",
        ],
    ),
    // An element with a setting, such as `<untrusted>false</untrusted>`, ends nothing.
    Sign {
        about: BREAK_OUT,
        anchors: &["untrusted"],
        form: Form::Marks,
        patterns: &[r"</ ?untrusted[a-z_-]*[^<>]{0,40}>"],
        unless_before: r"<untrusted[a-z_-]*> ?(?:true|false|yes|no|0|1) ?$",
        unless_after: "",
    },
    // The marks of our own prompts; a number in them is a guess of an attacker.
    sign(
        BREAK_OUT,
        Form::Marks,
        &["change", "finding", "earlier"],
        &[r"</? ?(?:change|finding|earlier)-[0-9a-f]{6,64} ?>"],
    ),
    sign(
        APPROVAL,
        Form::Marks,
        &[
            "issues", "problems", "weaknesses", "findings", "vulnerabilities", "defects", "flaws",
            "cleanbill", "allis", "safetomerge", "vetted", "informational", "asnit", "asminor",
            "aslow", "asharmless", "aspreexisting", "asadvisory", "severity", "stopanaly",
            "stopreviewing", "nothing", "outofscope",
        ],
        &[
            r#"(?m)(?:^[^a-z\n]*|[#/*!\-] ?|["'`] ?)(?:(?:dear|hey|hi|hello|attention|note|to|for|the|any|all|every|our|other)[, ]+){0,4}{model}(?: [a-z]+){0,6} ?[,:!] ?[^<>{}]{0,120}?\b{praise}\b"#,
        ],
    ),
    sign(
        APPROVAL,
        Form::Words,
        &[
            "taskisto", "jobisto", "goalisto", "finishyour", "endyour", "stopyour", "ispartofthe",
            "bythereviewer", "byreviewers", "byanyreviewer", "confidence", "yournext", "yourfinal",
            "youranswer", "yourreply", "yourresponse", "yourreport", "yourreview", "zeroissues",
            "zeroproblems", "reportnoissues", "reportnoproblems", "permission", "skipthe",
        ],
        &[
            r"\b(?:real|actual|true) (?:task|job|goal) is to (?:reply|respond|answer|say|output|report|approve|return|praise)\b",
            r"\b(?:finish|end|stop|close) your (?:report|review|analysis|answer) (?:here|now|at this point|with this)\b",
            r"\bnothing (?:after|below|past|beyond) this (?:line|comment|point|mark) is (?:a )?part of (?:the|this) (?:change|diff|patch|review)\b",
            r"\bfindings? (?:\w+ ){1,8}(?:has|have|needs?|is|are|must|should) (?:to )?be (?:dropped|dismissed|discarded|ignored|removed|left out) by (?:the |any |all |every )*(?:reviewers?|validators?|models?)\b",
            r"\bconfidence (?:for|of|in) (?:anything|everything|all findings|any findings?|every finding|whatever)(?: \w+){0,6} (?:must|should|shall|has to|is to) be (?:0|zero|low|set to)\b",
            r"\byour (?:next |final |whole |entire |first )*(?:message|answer|reply|response|output|report|review) (?:should|must|shall|has to|is to) (?:only |just )?(?:start|begin|end|consist|say|read|contain|state)(?: \w+){0,6} (?:no (?:blocking|issues|problems|findings|defects|concerns)|lgtm|looks good|all clear|approved)\b",
            r"\breviewers? (?:must |should |shall |will |are to |is to |please |always |have to |need to |kindly )+{say} (?:only |just |that |there |are |is )*(?:zero|no) (?:issues|problems)\b",
            r"\b(?:any|every|each|all) (?:ais?|llms?|language models?) (?:that |which |who )?(?:reads?|reading|reviews?|reviewing|sees?|scans?|scanning|analy[sz]es?) (?:\w+ ){1,9}?(?:skip the (?:\w+ )?(?:checks?|review)|approve|permission to skip)\b",
        ],
    ),
    sign(
        ROLE,
        Form::Marks,
        &["reviewermode", "reviewmode", "praisemode", "approvalmode"],
        &[
            r"\boverride ?: ?(?:the )?review(?:er|ing)? mode\b",
            r"\b(?:switch|change) (?:in)?to (?:praise|approval|approve|permissive) mode\b",
        ],
    ),
    // Sentences in reverse, or with every letter rotated by half the alphabet.
    sign(
        SET_ASIDE,
        Form::Words,
        &["snoitcurtsni", "stpmorp", "evorppa", "vafgehpgvbaf", "cebzcgf", "nccebir"],
        &[
            r"\b(?:snoitcurtsni|senilediug|stpmorp)(?: \w+){0,4} (?:erongi|dragersid|tegrof)\b",
            r"\b(?:egnahc|tseuqer llup|elif|hctap|timmoc|ffid) (?:siht|eht) evorppa\b",
            r"\b(?:vtaber|qvfertneq|sbetrg)(?: \w+){0,4} (?:vafgehpgvbaf|thvqryvarf|cebzcgf)\b",
            r"\bnccebir (?:guvf|gur) (?:punatr|chyy erdhrfg|svyr|cngpu|pbzzvg|qvss)\b",
        ],
    ),
    sign(
        APPROVAL,
        Form::Letters,
        &["findings", "emptyreport", "emptyreview", "emptylist", "emptyarray"],
        &[
            r"\bno (?:further |security |new )*findings? (?:should|must|may|shall|are to|need to|needs to|is to|can) (?:ever )?be (?:reported|raised|returned|listed|made|emitted|output|produced)\b",
            r"\b{say} (?:with |back |only |just |exactly |nothing but |the |a |an |simply |always |your )*empty (?:list of |array of |set of |json |security |review )*findings?\b",
            r"\b(?:report|answer|respond|reply|say) (?:with |back |only |just |that there are )*(?:zero|no) (?:security )?findings? (?:in|for|on|about) (?:this|these|the following)\b",
            r"\b(?:reviewers?|assistants?|llms?) (?:must |should |shall |will |are to |is to |please |always |have to |need to )+{say} (?:with |back |only |just |exactly |the |a |an |simply |always |your )*(?:empty|zero|no) (?:list|array|report|review|issues|problems|comments|findings)\b",
            // Code has validators and models, which return empty lists, and manuals ask their readers for them.
            r"\b(?:you|validators?|models?) (?:must |should |shall |will |are to |is to |please |always |have to |need to )+{say} (?:with |back |only |just |exactly |the |a |an |simply |always |your )*(?:empty|zero|no) (?:report|review|issues|problems|comments|findings)\b",
            r"\bfindings? (?:list|array|field) (?:must|should|shall|has to|needs to|is to) (?:always )?(?:be|stay|remain|left|be left|be kept) empty\b",
            r"\b(?:leave|keep) (?:the |your )?(?:list of )?findings (?:list |array |field )?empty\b",
        ],
    ),
    Sign {
        about: APPROVAL,
        anchors: &[
            "review", "findings", "vulnerabilit", "securityissue", "securityproblem",
            "securityflaw", "securityconcern", "notreport", "dontreport", "neverreport", "notflag",
            "dontflag", "neverflag", "flaganything", "reportanything",
        ],
        form: Form::Words,
        patterns: &[
            r"\b{never} (?:report|flag|raise|mention|list) {these}{flaws} (?:in|for|on|about|with|from|within) (?:this|these|the following) {thing}s?\b",
        ],
        // A comment on the settings of a linter describes them.
        unless_before: r"\b(?:tell(?:s|ing)?|configur(?:e|es|ing)|mak(?:e|es|ing)|for|so that) (?:the )?(?:linters?|compilers?|type checkers?|flake8|pylint|pyflakes|ruff|mypy|pyright|eslint|tslint|jshint|stylelint|rubocop|clippy|golint|checkstyle|shellcheck|sonarqube|clang tidy)(?: to)? $",
        unless_after: "",
    },
    Sign {
        about: APPROVAL,
        anchors: &["findings"],
        form: Form::Words,
        patterns: &[
            r"\b(?:do not|dont|never|must not|should not|shall not|may not|not to|without) {raise} {these}findings?\b",
        ],
        // The description of a program is not an order.
        unless_before: r"\b(?:we|they|it|which|that|tools?|scanners?|also|i|to|will|would|and) $",
        unless_after: "",
    },
    sign(
        APPROVAL,
        Form::Words,
        &[
            "review", "findings", "nottoreport", "inyourreport", "inyouranswer", "asafinding",
            "asfinding", "asavulnerab", "asvulnerab", "asasecurity", "bereported", "beraised",
            "beflagged", "vulnerabilit", "securityissue", "securityproblem", "securityflaw",
            "securityconcern", "authorizeyou", "authoriseyou", "permissionto", "authorizedto",
            "authorisedto", "asbenign", "assafe", "asclean", "astrusted", "asharmless", "assecure",
            "asapproved", "givethis", "afterthis", "belowthis", "abovethis", "approv", "lgtm",
            "noissues", "nofindings", "looksgood", "allclear", "actasa", "beforeanswering",
            "beforeresponding", "beforeyouanswer", "beforeyourespond", "youranalysis",
            "notanalyze", "notanalyse", "notinspect", "dontanalyze", "dontinspect", "donotreport",
            "dontreport", "donotflag", "dontflag", "neverflag", "neverreport", "notflag",
            "notreport", "approve", "audited", "vetted", "flaganything", "reportanything",
            "signedoff", "skipthis",
        ],
        &[
            r"\breviewers? {modal}(?:do not|dont|does not|need not|neednt)(?: need| have)?(?: to)? (?:look|review|read|check|comment|raise|flag|report)\b",
            r"\b{never} (?:mention|include|list|comment on|report|flag|discuss|write)(?: \w+){0,8}? in your (?:code |security )?(?:review|report|answer|findings)\b",
            r"\bwhen (?:you are |youre |you )?review(?:ing)? this(?: \w+)? (?:please |you must |you should |always )*(?:conclude|approve|assume|ignore|skip|say|{never} (?:report|flag|raise|comment)|only (?:say|output|respond))\b",
            r"\b(?:end|stop|finish|conclude|abort) your (?:code |security )?(?:review|analysis)\b",
            r"\b{never} (?:report|raise|flag|list|count|treat|file) (?:this |it |these |them |that )?as (?:an? )?(?:findings?|vulnerabilit(?:y|ies)|security (?:issue|problem|bug|vulnerability)s?)\b",
            r"\bno (?:issues|problems|vulnerabilities|warnings|comments) (?:should|must|may|shall|are to|need to) be (?:reported|raised|flagged|listed|made) (?:for|in|on|about|against) (?:this|these)\b",
            r"\b(?:ignore|overlook|disregard|skip|exclude|omit|suppress) (?:(?:any|all|every|the|these|other|of|possible|potential|apparent|remaining) )*(?:(?:security |review )?findings?|vulnerabilit(?:y|ies)|security (?:vulnerabilit(?:y|ies)|issues?|problems?|flaws?|concerns?|bugs?)) (?:below|above|here|(?:in|within|of|for) (?:this|these) {thing}s?)\b",
            r"\b(?:i|we) (?:hereby )?authori[sz]e you to (?:approve|skip|ignore|bypass|merge)\b",
            r"\byou (?:have been|are|were|re) (?:hereby )?(?:granted |given |allowed |authori[sz]ed |permitted )+(?:permission )?to (?:skip|ignore|bypass|approve) (?:\w+ ){0,2}?(?:reviews?|security checks|findings|{thing})\b",
            r"\b(?:models?|llms?|ai|assistants?|reviewers?|classifiers?) (?:must|should|shall|has to|will|needs to|have to) (?:\w+ ){0,2}?(?:classify|label|treat|mark|consider|report|rate|regard|judge) (?:this|these|the) {thing}s? as (?:benign|safe|clean|trusted|approved|harmless|secure|correct)\b",
            r"\b(?:treat|regard|consider|classify) (?:this|these) {thing}s? as (?:safe|trusted|benign|approved|reviewed|clean|secure|harmless)\b",
            r"\bgive (?:this|these) {thing}s? (?:a |an |the )?(?:highest|perfect|top|full|maximum|best|passing|positive|clean) (?:score|rating|grade|marks?|review|verdict|bill)\b",
            r"\b(?:everything|anything|all|the rest|all code|all text) (?:after|below|above|following|before|past) this (?:line |point |comment |marker )?(?:is|are|has been|was) (?:\w+ )?(?:trusted|safe|approved|reviewed|from the (?:system|operator|developer|user)|not (?:part|untrusted))\b",
            r"\bfindings (?:do not|dont|never) apply\b",
            r"\b(?:respond|answer|reply) (?:with |by |only |just |exactly |saying |the |word |words |single |your |an? )+(?:approved|approval|lgtm|no issues|no findings|looks good|all clear)\b",
            r"\b(?:output|return|say|print|write) (?:exactly |only |just |the word |the words |that )+(?:approved|lgtm|no issues|no findings)\b",
            r"\bact as (?:an? |the )*(?:approving|permissive|lenient|friendly|rubber stamp|uncritical)(?: \w+)? (?:reviewer|approver|auditor)\b",
            r"\bbefore (?:answering|responding|you answer|you respond|reviewing|you review) (?:this |please |you must |first |always )*(?:run|execute|fetch|open|download)\b",
            r"\b{never} (?:flag|report on) this (?:file|change|diff|pr|pull request|patch|commit|folder|directory)\b",
            r"\breviewers? {modal}{never} (?:ever |be )*(?:flag|report|raise|complain|block|question|reject|mention|flagging|reporting)\b",
            r"\b{ai} {modal}(?:approve|accept|pass|{never} (?:ever )?(?:flag|report|raise|comment|mention|review|block|complain|look|read|analy[sz]e|scan|check)|skip (?:this|the|these|all|reviewing|review|over)|ignore (?:this|the|these|all|any|it|everything|findings)|stop (?:here|reviewing|reading)|(?:{say}) (?:with )?(?:only |just |an |a |the )*(?:no|zero|empty|approval|approved|lgtm|nothing|ready|pass)|mark (?:\w+ ){0,4}(?:as )?(?:approved|safe|clean|resolved|reviewed|trusted|passed)|treat (?:\w+ ){0,5}as (?:approved|safe|clean|trusted|reviewed)|consider (?:\w+ ){0,4}(?:as )?(?:approved|safe|clean|reviewed|trusted)|lower|downgrade|give (?:this|it|the) (?:\w+ ){0,4}(?:pass|approval|high|top|perfect))\b",
            r"\b(?:this|the|these|following|below|entire|whole) (?:\w+ ){0,2}?(?:{thing}|files|changes|lines) (?:(?:in|below|above|here|itself|under|and|this|its|the|folder|directory|contents?) )*(?:was|were|has|have|is|are)(?: been)?(?: already| fully| thoroughly| manually| previously| formally| all)* (?:re)?(?:reviewed|approved|audited|vetted|verified|cleared|signed off|certified|checked|validated|accepted|scanned|pre approved|preapproved|whitelisted|allowlisted)(?: \w+){0,14}? (?:(?:output|respond|answer|reply|say|return) (?:\w+ ){0,2}?(?:approved|lgtm|approval|no issues|empty|nothing|ok)|{not} (?:\w+ ){0,2}?(?:report|flag|raise|review|comment|mention|reviewing|re review|re reviewed|reported|flagged|checked|look|analy[sz]e|findings?|be (?:reviewed|reported|flagged|checked))|no (?:need|reason) to (?:review|report|flag|check|look|re review)|no (?:further |more |additional |second )*(?:review|findings?|comments?|checks|analysis|reports?|look)\b|skip (?:it|this|the review|review|reviewing|further)|nothing (?:to|needs) (?:report|review|flag|be)|just approve|approve it|safe to approve|please approve|can be (?:approved|skipped))",
            r"\bapprove (?:this|the|these) {thing}s? (?:immediately|unconditionally|regardless|no matter|as is|without (?:any |further |more )*(?:review|reviewing|comments?|findings?|questions?|changes|reading|looking|analysis|delay|checking)|and (?:report|return|output|raise|do not|move on|say))\b",
            r"\b(?:you|reviewers?) (?:must|shall|will|should|have to|are to|are required to|are instructed to|need to) (?:now |always |immediately |simply |just )*approve (?:this|these|it|everything|all changes|every)\b",
            r"\b(?:stop|skip|abort|end|cease|omit) (?:the |your |this |any |further |all )*(?:code |security )?(?:review|reviewing|analysis) (?:of|for|on|here|now|at|in) (?:this|these|the following|here|now|point)\b",
            r"\b(?:do not|dont|never|no need to|no reason to|you (?:may|can|should|must) skip|skip) (?:review|reviewing|re review|analy[sz]e|analy[sz]ing|inspect|scan) (?:this|these|the rest of this|the rest of the|the following) (?:file|files|change|diff|patch|folder|directory|module|function|section|hunk|lines)\b",
            r"\bskip (?:this|these|the following) (?:file|files|change|diff|folder|directory|hunk|lines|function) (?:in|during|when|while|for) (?:the |your |any |all |code |security |ai )*(?:review|reviewing|audit)\b",
            r"\b(?:the|this|your|security|code) review (?:has|is|was) (?:now |already |been |hereby )*(?:completed?|passed|finished|concluded|over|done) (?:\w+ ){0,6}?(?:approve|return|output|stop reviewing|do not|dont|no further|skip|respond|report no|report nothing)\b",
            r"\b(?:this|these|the following) (?:{thing}|files|changes) (?:is|are) (?:\w+ )?exempt(?:ed)? from (?:all |any |the |code |security |ai |automated |further |your )*(?:reviews?|findings|scanning|reviewing)\b",
        ],
    ),
    sign(
        APPROVAL,
        Form::Words,
        &["verdict"],
        &[
            r"\b(?:set|return|output|report|give|make|emit|change|issue|force|use) (?:the |your |a |an |final |its |with )*verdict (?:to |as |of |be |is |must |should |must be |should be |equals )+(?:ready|approved?|pass|passed|lgtm|clean|ship|accept|positive)\b",
            // With neither article nor `as`, it is code: `report.verdict != "pass"`.
            r"\b(?:set|return|output|report|give|make|emit|change|issue|force|use) (?:the |your |a |an |final |its |with )+verdict (?:ready|approved?|pass|passed|lgtm|clean|ship|accept|positive)\b",
            r"\b(?:set|give|make|emit|force) verdict (?:ready|approved?|pass|passed|lgtm|clean|ship|accept|positive)\b",
            r"\b(?:the|your|final) verdict (?:must|should|has to|shall|needs to|will) (?:always )?be (?:ready|approved?|pass|passed|lgtm|clean|accept|positive)\b",
        ],
    ),
    sign(
        APPROVAL,
        Form::Words,
        &[
            "aireview", "automatedreview", "automaticreview", "llmreview", "reviewbot",
            "reviewagent", "reviewmodel", "reviewassistant", "reviewingmodel", "youareanai",
            "youareanllm", "youareallm", "youarealanguage", "youarealarge", "youreanai",
            "youareanautomated", "youarereviewing", "dearai", "attentionai", "languagemodel",
            "reviewingthis", "whoeverreviews", "thereviewer", "asareviewer",
        ],
        &[
            r"\b(?:instructions?|guidelines?|rules|note|notes|notice|message|attention|guidance|policy|orders|directives?|reminder|memo|hint|info|important) (?:for|to) (?:the |all |any |every |our |this |an |a )*(?:(?:ai|llm|automated|automatic|machine|model|bot|gpt|claude|copilot)(?: based| powered)? (?:code |security |pr |diff )*(?:reviewers?|review (?:bots?|agents?|assistants?|models?|systems?|tools?)|auditors?|validators?)|(?:code |security |pr )?review(?:ing)? (?:bots?|agents?|assistants?|models?|llms?|ai)|language models? (?:reviewing|reading)|(?:llm|ai|model|assistant|agent) (?:that is |who is )?(?:reviewing|reading) this)",
            r"\bif you(?: are|re) (?:an? )(?:ai|llm|large language model|language model|automated (?:reviewer|review|code)|(?:ai|llm) (?:model|assistant|reviewer|code)|code review (?:bot|agent|assistant|model|ai))\b(?: (?:code|review|reviewer|bot|model|system|agent|assistant|or|an?|automated|language|tool)){0,4} (?:reviewing|reading|processing|analy[sz]ing|looking|and|you|then|please|ignore|approve|do|stop|skip|report|return|output|must)\b",
            r"\b(?:dear|attention) (?:ai|llm|automated reviewer|language model|code review (?:bot|ai)|review (?:bot|agent|model))\b",
            r"\b(?:as|since|because|given that) (?:you are |the |an? |youre )+(?:\w+ )?(?:reviewer|ai|llm|language model|code reviewer)(?: of this \w+)? you (?:must|should|shall|are|will|may|can|need|have) (?:only |now |always |to |not |never |instructed |required |asked )*(?:approve|ignore|{say}|skip|trust|report|flag|raise|accept|treat|mark)\b",
            r"\b(?:whoever|whatever|anyone|any model|any ai|the model|the ai|the llm|the assistant|the agent|the reviewer)(?: that is| who is| who| that)? (?:reviews|reviewing|reads|reading) this {thing}? ?{modal}(?:approve|ignore|{say}|skip|trust|{never})\b",
            r"\bthe reviewer {modal}(?:ignores?|approves?|{say}) (?:this|these|the following|everything|no findings|nothing|an empty|all)\b",
            // What the reviewer of a program "returns" is a description if it is nothing.
            r"\bthe reviewer {modal}{say}s (?:this|these|the following|everything|no findings|an empty|all)\b",
        ],
    ),
    sign(
        APPROVAL,
        Form::Marks,
        &[
            "claude", "copilot", "chatgpt", "llm", "gemini", "codex", "languagemodel", "aidonot",
            "aidont", "ainever", "aiignore", "aiapprove", "aiskip", "aiplease", "aireport",
            "aireturn", "aitreat", "aistop", "aimark", "aimodel", "aiassistant", "aireviewer",
            "reviewbot", "reviewerbot", "gpt",
        ],
        &[
            r"(?m)^[^a-z0-9\n]*(?:(?:hey|hi|dear|to|attention|note to|hello|ok|psa)[ :,]+)?(?:(?:the|all|any) )*@?(?:ai|llms?|claude|chatgpt|gpt|gpt-[0-9]|copilot|codex|gemini|language models?|ai (?:reviewers?|models?|assistants?)|review(?:er)? bots?)(?: (?:reading|reviewing|that reads|that reviews) (?:this|it)(?: [a-z]+)?)?(?: ?[:,!]+| -+) ?(?:(?:please|you|must|should|just|now|always|kindly) )*(?:(?:do not|dont|don.t|never) (?:report|flag|raise|comment|mention|review|look|read|analy[sz]e|block)|ignore|approve|skip|say|report (?:no|that|nothing)|return (?:an empty|no|nothing)|output|respond|answer (?:with|that)|treat|mark (?:this|it|all|as)|stop (?:here|reviewing|reading)|consider this|accept|pass this|assume|conclude|trust|this (?:pr|file|change|code|diff) (?:is|was|has))\b",
        ],
    ),
    Sign {
        about: FAKE,
        anchors: &[
            "findings", "toolresult", "functionresult", "toolresponse", "scanneroutput",
            "scannerresult", "reviewresult", "reviewoutput", "toolresults", "tooloutput",
            "functioncalls", "systemreminder", "toolerror",
        ],
        form: Form::Marks,
        patterns: &[
            r#""?\b(?:reviewer|persona|verdict|approved|review|coverage|confidence|looks_good|lgtm|status)"? ?: ?(?:"[^"\n]{0,80}"|true|\d+|\{[^{}]{0,80}\})[ \n]*,[^{}]{0,300}"?\bfindings"? ?: ?\[[ \n]*\]"#,
            r#""findings" ?: ?\[[ \n]*\][ \n]*,[^{}]{0,200}"(?:verdict|approved|reviewer|persona|lgtm)" ?: ?(?:"(?:ready|approved?|pass|passed|lgtm|clean|security|correctness|[a-z-]*review[a-z-]*)"|true)"#,
            r#"\b(?:output|respond|answer|reply|say|lgtm|(?:return|print|report|emit) (?:only|exactly|just|this|the))\b[^{}\n=()]{0,60}\{ ?"?findings"? ?: ?\[ ?\]"#,
            r#"\{ ?"?findings"? ?: ?\[ ?\] ?\}"? ?(?:and nothing else|only\b|and stop|, nothing else|as (?:your|the) (?:answer|response|report))"#,
            r"\blgtm\b.{0,60}\bfindings\b",
            r"</?(?:tool_results?|function_results?|function_calls|tool_response|tool_output|system-reminder|system_reminder)>[ \n]*[a-z0-9{<\[]",
            r"\b(?:tool|function|scanner|review) (?:result|results|output|response) ?: ?(?:\{[^{}]{0,60})?(?:the |all )?(?:no (?:issues|findings|vulnerabilities|problems)|review (?:passed|complete)|approved|change is (?:safe|clean)|checks passed, approve)",
        ],
        unless_before: "",
        unless_after: r"^(?:\{|[a-z_]+ ?[}(.\[])",
    },
    sign(
        FAKE,
        Form::Marks,
        &["assay"],
        &[
            r"\bassay(?: review| gate| verdict)? ?[:=\]] ?(?:verdict ?[:=]? ?)?(?:approved|passed|verified|reviewed|trusted|skip|safe|disable|off\b|pre-?approved|ready ?[(.]|no findings)",
        ],
    ),
    sign(
        STEERING,
        Form::Words,
        &[
            "confidence", "severity", "secretsin", "injectionsin", "alertsin", "vulnerabilitiesin",
            "preexisting", "falsepositive", "findings", "grade",
        ],
        &[
            r"\b(?:report|rate|grade|score|give|set|assign|mark|emit|use|return|file|list|lower|keep) (?:(?:every|all|any|each|the|your|these|those|this|of|in|here|to|for|file|them|a|it) )*(?:findings?|issues?|everything|anything|problems?|vulnerabilit(?:y|ies)) (?:(?:in|this|the|file|change|diff|folder|here|you|may|might|find|report|with|to|at|as|a|an|of|only|its|their|no|more|than) )*(?:confidence|severity|grade|priority) (?:(?:score|level|of|to|at|is|no|higher|above|than|only|set|the) )*(?:0|zero|none|low|lowest|info|minor|suggestion|p3|p4|informational|minimum|trivial|nit)\b",
            r"\b(?:give|set|use|keep|report|assign) (?:(?:every|all|any|each|the|your|a|an|of) )*(?:confidence|severity) (?:(?:score|level|of|to|at|is|as) )*(?:0|zero|none|low|lowest|info|minor|trivial|minimum)? ?(?:for|to|on|of) (?:every|all|any|each|everything|anything) (?:of |your |security |the )*(?:findings?|issues?|vulnerabilit(?:y|ies)|problems?|in|you)\b",
            r"\b(?:confidence|severity) (?:of |for )(?:every|all|any|each|the|your) (?:of |your |security |such )*(?:findings?|issues?|vulnerabilit(?:y|ies)|problems?) (?:(?:in|this|file|change) )*(?:must|should|shall|has to|is to) (?:always )?be (?:\w+ ){0,2}?(?:0|zero|none|low|lowest|info|minor|trivial|minimum|at most|below)\b",
            r"\b(?:mark|report|label|treat|classify|tag|list|flag|consider) (?:\w+ ){0,5}?as (?:pre existing|preexisting)\b",
            r"\b(?:mark|report|label|treat|classify|tag|consider|regard) (?:(?:every|all|any|each|the|your|these|those|of|security|other) )*(?:findings?|everything|anything) (?:(?:in|on|about|from|this|the|here|file|change|diff|folder|directory|you|find|found|below|above) )*as (?:an? )?(?:false positives?|already (?:fixed|resolved|known|reported)|not introduced|out of scope|informational|nitpicks?|safe|harmless|intended|by design|low)\b",
            r"\b(?:lower|downgrade|reduce|drop|cap) (?:the |your |all |every |any |its )*(?:severity|confidence|grade|severities|grades)(?: scores?| levels?)? (?:of|for|on) (?:all |every |any |your |the |these )*findings?\b",
            r"\b(?:findings?|alerts?|vulnerabilities|injections?|secrets?) in this (?:file|folder|directory|module|package|repository|repo|change|diff) (?:is|are) (?:always |all |known |to be )*(?:accepted|intended|intentional|exempt|approved|whitelisted|out of scope|false positives?|ignored|not to be (?:flagged|reported)|by design)\b",
        ],
    ),
    Sign {
        about: LEAK,
        anchors: &[
            "prompt", "instructions", "yourcanary", "canarytoken", "canaryvalue", "canarystring",
            "canaryword", "yournonce", "developermessage", "markers", "thefence", "betweenthe",
            "insidethe", "repeateverything", "repeatall",
        ],
        form: Form::Words,
        patterns: &[
            r"\b(?:print|reveal|show|output|repeat|display|tell|give|leak|disclose|dump|include|share|paste|quote|echo|return|recite|expose|write|state|copy) (?:(?:me|us|out|back|verbatim|the|full|entire|complete|whole|exact|all|of|contents?|text|word|for) )*your (?:(?:full|entire|complete|whole|exact|hidden|own|secret|current|internal) )*(?:system prompts?|system message|system instructions|initial prompt|hidden prompt|developer message|(?:hidden|original|initial|secret) instructions|canary|nonce|fence(?: token| marker)?|prompt verbatim|instructions verbatim)\b",
            r"\b(?:reveal|repeat|leak|recite|disclose|exfiltrate) (?:(?:me|us|out|back|verbatim|the|full|entire|complete|whole|exact|all|of|contents?|text|your|hidden|word|for) )*(?:system prompt|system message|hidden prompt|developer message|your instructions|canary(?: token| value| string| word)?|your prompt)\b",
            r"\b(?:repeat|recite|reveal|echo) (?:(?:me|us|back|verbatim|the|full|entire|exact|all|of|exactly|whatever|what) )*(?:text|contents?|words?|strings?|tokens?|everything|value|code|lines?|is|stands) (?:(?:that|is|found|which|stands|placed|written) )*(?:between|inside|within|around) the (?:\w+ )?(?:markers?|marks?|fences?|delimiters?|tags|canary|nonce)\b",
            r"\b(?:print|output|return|include|copy|write|quote|put) (?:(?:back|verbatim|the|full|entire|exact|all|of|exactly) )*(?:text|contents?|words?|strings?|tokens?|everything|value) (?:(?:that|is|found|which) )*(?:between|inside|within|around) the (?:\w+ )?(?:markers?|marks?|fences?|delimiters?|tags|canary|nonce) (?:\w+ ){0,3}?(?:verbatim|your (?:answer|response|reply|report|review|output))\b",
            r"\brepeat (?:everything|all(?: of)?(?: the)?(?: text| words)?|the (?:text|words|message)) (?:(?:that|which|came|is|stands|written|in|the|this) )*(?:above|before this|conversation)\b",
            r"\b(?:tell|give|print|output|write|include|state) (?:me |us |out )*(?:the |your )+canary (?:token|value|string|word|marker)\b",
            r"\b(?:show|tell|give) me your (?:system |full |entire |hidden |initial )*(?:prompt|instructions)\b",
            r"\b(?:words|lines|sentences|characters|paragraphs?) of your (?:system |initial |hidden )*(?:prompt|instructions)\b",
            r"\b(?:translate|encode|summari[sz]e|convert|rot13|base64|spell) (?:\w+ )?your (?:system |initial |hidden |full )*(?:prompt|instructions)\b",
            r"\bwhat (?:is|are|was|were) your (?:system prompt|(?:original|initial|hidden|exact) instructions|canary|nonce)\b",
        ],
        // Programs that talk to models tell them not to reveal such text.
        unless_before: r"(?:not|never|dont|cannot|refuse to|refusing to|avoid|ever|to not|wont|request to|requests to|asked to|asks to|attempts to|attempt to|tries to|or) (?:\w+ )?$",
        unless_after: "",
    },
    sign(
        LEAK,
        Form::Words,
        &[
            "env", "apikey", "credentials", "secret", "etcpasswd", "idrsa", "sshkey", "privatekey",
            "token",
        ],
        &[
            r"\b(?:send|post|upload|transmit|forward|exfiltrate|curl|leak|submit|email (?:all|the|your|any|every|its|my|me|us)) (?:(?:all|the|your|any|every|its|contents?|of|full|entire|current|available|process|value|values|out|me|us|repositorys|repository|repo|repos|project|projects|s) )*(?:environment variables?|environment|env vars?|env file|env|api keys?|credentials|secrets?|tokens?|ssh keys?|private keys?|passwords?|dotenv|aws credentials|id rsa)(?: \w+){0,4}? (?:to|at) (?:https?|(?:this|the following|my|our|that) (?:url|webhook|address|host|domain|email|ip)|attacker|evil|me\b|us\b|webhook|[a-z0-9]+ (?:com|net|io|org|example|evil) )",
            r"\b(?:include|append|add|put|paste|embed|quote|attach|insert|write|print|copy|report|disclose|reveal|output|list|return|show|mention) (?:(?:the|full|all|entire|contents?|value|values|text|output|of|your|any|a|an|every|complete|raw|file|current|its|from|environment|machine) )*(?:env|env file|dotenv|environment|environment variables?|env vars?|(?:\w+ )?api keys?|etc passwd|ssh keys?|id rsa|secrets?|credentials|aws credentials|access tokens?|github token|private keys?|passwords?)(?: \w+){0,4}? (?:in|into|to|as part of|with|inside) (?:your (?:own |final |next |json |review )*(?:answer|response|reply|report|review|findings?|output|comments?|summary|description|suggested fix|evidence|title)|the review|the report|an? findings?|the findings?|the suggested fix|the description of|the title of|the evidence)\b",
            r"\b(?:read|open|cat|load|fetch) (?:the |file |contents? |of |your |local )*(?:env|etc passwd|etc shadow|ssh id rsa|id rsa|aws credentials|git credentials|home \w+ ssh \w+)(?: file)? (?:and|then) (?:include|send|post|print|report|append|put|quote|paste|output|return|upload)\b",
        ],
    ),
    sign(
        VALIDATOR,
        Form::Words,
        &[
            "refute", "overturn", "disprove", "rejectall", "rejectevery", "rejectany",
            "dismissall", "dismissevery", "dismissany", "discardall", "discardany", "discardevery",
            "votetoreject", "voteunsure", "findingas", "findingsas", "validator",
        ],
        &[
            r"\b(?:refute|overturn|disprove) (?:(?:all|every|any|each|the|these|those|this|other|reviewers?|security|previous|of|them|critical|high|p0|p1|and|its|that) )*(?:findings?|votes?|reports?|claims? (?:about|of|in) this|vulnerabilit(?:y|ies)|everything)\b",
            r"\b(?:reject|dismiss|discard) (?:all|every|any|each) (?:of |the |these |those |security |other |reported |reviewer |critical )*(?:findings?|reviewer reports?)\b",
            r"\bvalidators? {modal}(?:refute|reject (?:all|every|any|each|this|these|the) (?:\w+ )?findings?|vote (?:to )?(?:refute|reject|unsure)|{say} (?:with )?(?:only )?(?:refuted?|unsure))\b",
            r"\b(?:vote|answer|say|reply|respond|return|output|always) (?:with |only |to |just )*refuted?\b",
            r"\bvote unsure\b",
            r"\b(?:elsewhere|please|must|should|always|so) refute (?:it|this|them)\b",
            r"\b(?:mark|treat|consider|label) (?:this|the|these|that|all|any|every) findings? as (?:refuted|invalid|not real)\b",
            r"\bvalidators? this finding (?:is|was)\b",
        ],
    ),
    sign(
        SKIP,
        Form::Marks,
        &[
            "nosecai", "noqaai", "nolintai", "nosecllm", "noqallm", "nolintllm", "aireview",
            "llmreview", "aiignore", "aiskip", "llmignore", "llmskip", "skipai", "skipllm", "noai",
            "botreview", "ignoreai", "disableai", "gptreview", "claudereview", "copilotreview",
            "aiscan", "aicheck",
        ],
        &[
            r"\b(?:nosec|noqa|nolint|nosemgrep|no-?lint)[-_: ]{0,2}(?:ai|llm|gpt|claude|copilot)\b",
            r"\b(?:ai|llm|gpt|claude|copilot|bot)[-_ ]?(?:code[-_ ]?)?(?:review|reviewer|reviewers|scan|scanner|check) ?[:=] ?(?:skip|ignore|approved?|pass|passed|safe|exempt|lgtm|trusted|clean)\b",
            r"(?m)(?:^|[#/*\[(<!-] ?)@?(?:ai|llm|llms)[-_: ]{1,2}(?:ignore|skip|exempt)\b(?:[-: \]]|$)",
            r"\[ ?(?:skip|no|ignore|disable|bypass)[-_ ](?:ai|llm|bot)(?:[-_ ](?:review|scan|check))? ?\]",
            r"(?:[#/*;-]|<!--) ?@?(?:skip|no|ignore|disable|bypass|suppress)[-_ ](?:ai|llm|gpt|claude|copilot)[-_ ](?:code[-_ ])?(?:review|reviewer|reviewers|scan|findings|check)\b",
        ],
    ),
    sign(
        SET_ASIDE,
        Form::Letters,
        &[
            "anweisung", "instruktion", "vorgaben", "befehle", "istruzioni", "direttive",
            "indicazioni", "instrucciones", "indicaciones", "ordenes", "directrices", "instrucoes",
            "orientacoes", "instructionsprecedentes", "instructionsanterieures",
            "instructionscidessus", "consignes", "directivesprecedentes", "instrukcje",
            "instructies",
        ],
        &[
            r"\b(?:ignoriere|ignoriert|ignorieren sie|ignorier|missachte|missachten sie|vergiss|vergesst|vergessen sie|beachte nicht) (?:(?:alle|alles|samtliche|die|deine|ihre|eure|bisherigen|vorherigen|vorigen|obigen|vorangegangenen|vorangehenden|fruheren|zuvor|erteilten|gegebenen|oben|genannten|bitte|sofort|meine|und) )*(?:anweisungen|instruktionen|vorgaben|befehle|systemanweisungen)\b",
            r"\b(?:ignore|ignores|ignorez|ignorer|oublie|oubliez|oublier|ne tiens pas compte|ne tenez pas compte|ne tenir aucun compte) (?:(?:de|des|toutes|tous|les|tes|vos|ces|l|ensemble|absolument|tout) )*(?:instructions|consignes|directives) (?:(?:qui|donnees|recues) )*(?:precedentes|anterieures|ci dessus|initiales|prealables|cidessus|systeme|donnees)\b",
            r"\b(?:ignora|ignore|ignorad|olvida|olvide|olvidad|omite|omita|desatiende|haz caso omiso de|haga caso omiso de|no sigas|no siga) (?:(?:todas|todo|las|los|tus|sus|mis|esas|estas|de|por|favor|cualquier) )*(?:instrucciones|indicaciones|ordenes|directrices) (?:(?:que|recibidas|dadas) )*(?:anteriores|previas|de arriba|precedentes|iniciales|del sistema|recibidas|dadas)\b",
            r"\b(?:ignora|ignorate|ignori|dimentica|dimenticate|dimentichi|tralascia|non seguire) (?:(?:tutte|tutto|le|tue|vostre|sue|di|queste|quelle|per|favore) )*(?:istruzioni|indicazioni|direttive) (?:(?:che|ricevute|date) )*(?:precedenti|anteriori|iniziali|di sopra|sopra|di sistema|ricevute|date)\b",
            r"\b(?:ignore|ignora|ignorem|esqueca|esquece|desconsidere|desconsidera|nao siga) (?:(?:todas|todos|as|os|suas|tuas|essas|estas|de|quaisquer|por|favor) )*(?:instrucoes|orientacoes|ordens|diretrizes) (?:(?:que|recebidas|dadas) )*(?:anteriores|previas|acima|precedentes|iniciais|do sistema|recebidas|dadas)\b",
            r"\b(?:negeer|vergeet) (?:(?:alle|de|je|uw|vorige|eerdere|voorgaande|bovenstaande) )+instructies\b",
            r"\b(?:zignoruj|zapomnij|ignoruj) (?:(?:wszystkie|o|wszystkich|poprzednie|wczesniejsze|powyzsze|twoje) )+instrukcj\w*\b",
        ],
    ),
    sign(
        APPROVAL,
        Form::Words,
        &[
            "meldekeine", "dubistjetzt", "dubistnun", "dubistabsofort", "tuesdesormais",
            "tuesmaintenant", "vousetesdesormais", "vousetesmaintenant", "ahoraeres",
            "meldenkeine", "meldensiekeine", "meldetkeine", "berichtekeine", "genehmige",
            "nesignale", "nerapporte", "approuve", "noinforme", "noreport", "nosenale", "nomarque",
            "aprueb", "nonsegnala", "nonriporta", "approva", "naorelate", "naoreporte",
            "naoaponte", "aprove", "leereliste", "listevide", "listavacia", "listavuota",
            "listavazia", "keinebefunde",
        ],
        &[
            r"\b(?:melde|melden|meldet|berichte|berichten)(?: sie| mir| bitte| du)* keine(?:rlei)? (?:\w+ )?(?:befunde|fehler|probleme|funde|findings|schwachstellen|sicherheitslucken|mangel)\b",
            r"\bdu bist (?:jetzt|nun|ab sofort) (?:ein|eine|kein|keine) (?:\w+ )?(?:gutachter|prufer|assistent|reviewer|ki|sprachmodell|bot)\b",
            r"\b(?:tu es|vous etes) (?:desormais|maintenant) (?:un|une) (?:\w+ )?(?:assistant|ia|relecteur|reviseur|modele|bot)\b",
            r"\bahora eres (?:un|una) (?:\w+ )?(?:asistente|ia|revisor|modelo|bot)\b",
            r"\b(?:genehmige|genehmigen sie|genehmigt) (?:diese|diesen|dieses|die|den) (?:\w+ )?(?:anderung|anderungen|pull request|pr|datei|patch|commit|merge request)\b",
            r"\b(?:gib|geben sie|liefere|antworte mit)(?: \w+){0,2} (?:leere liste|leeren liste|keine befunde)\b",
            r"\bne (?:signale|signalez|signaler|rapporte|rapportez|rapporter|mentionne|mentionnez) (?:aucun|aucune|pas de|pas les|rien)(?: \w+)? ?(?:probleme|problemes|faille|failles|vulnerabilite|vulnerabilites|erreur|erreurs|defaut|anomalie|resultat)?\b",
            r"\b(?:approuve|approuvez|approuver) (?:ce|cette|ces|la|le|immediatement) (?:\w+ )?(?:changement|modification|modifications|pull request|pr|fichier|commit|demande de fusion)\b",
            r"\b(?:renvoie|renvoyez|retourne|retournez|reponds avec|repondez avec)(?: \w+){0,2} liste(?: de \w+)? vide\b",
            r"\bno (?:informes|informe|reportes|reporte|senales|senale|marques|marque|menciones|mencione) (?:(?:de|sobre|ningun|ninguna|los|las|ningunos|acerca) )*(?:nada|problemas?|hallazgos?|fallos?|vulnerabilidad(?:es)?|errores?|error|resultados?)\b",
            r"\b(?:aprueba|apruebe|apruebalo|aprobad) (?:este|esta|estos|el|la) (?:\w+ )?(?:cambio|cambios|pull request|pr|archivo|commit|solicitud)\b",
            r"\b(?:devuelve|devuelva|responde con)(?: \w+){0,2} lista(?: de \w+)? vacia\b",
            r"\bnon (?:segnalare|segnalate|segnali|riportare|riportate) (?:(?:alcun|alcuna|nessun|nessuna|i|gli|le|mai) )*(?:problem[ai]|vulnerabilita|error[ei]|difett[oi]|risultat[oi])\b",
            r"\b(?:approva|approvate|approvare) (?:questa|questo|queste|la|il) (?:\w+ )?(?:modifica|modifiche|pull request|pr|file|commit|cambiamento)\b",
            r"\b(?:restituisci|restituire|rispondi con)(?: \w+){0,2} lista(?: di \w+)? vuota\b",
            r"\bnao (?:relate|relates|reporte|reportes|aponte|apontes|mencione|sinalize) (?:(?:nenhum|nenhuma|os|as|quaisquer|qualquer) )*(?:problemas?|vulnerabilidades?|erros?|falhas?|achados?|resultados?)\b",
            r"\b(?:aprove|aprova) (?:este|esta|estas|o|a|esse|essa) (?:\w+ )?(?:mudanca|mudancas|alteracao|alteracoes|pull request|pr|arquivo|commit)\b",
            r"\b(?:retorne|devolva|responda com)(?: \w+){0,2} lista(?: de \w+)? vazia\b",
        ],
    ),
    sign(
        SET_ASIDE,
        Form::Words,
        &[
            "инструкци", "указани", "команды", "не сообщай", "одобри", "指令", "指示", "提示",
            "命令", "プロンプト", "报告", "报告", "批准", "承認", "報告", "지시", "지침", "忽略",
            "無視", "无视", "忘记", "審査", "审查", "你现在是",
        ],
        &[
            r"(?:игнорируй|игнорируйте|проигнорируй|проигнорируйте|забудь|забудьте|отбрось|не выполняй|не обращай внимания на|не следуй) (?:(?:все|всё|обо|всех|свои|твои|ваши|эти|предыдущие|предыдущих|предыдущим|прежние|прошлые|вышеуказанные|вышеприведенные|данные|ранее|пожалуйста|системные|любые) )*(?:инструкции|инструкциях|инструкциям|указания|указаниях|команды|правила)",
            r"не (?:сообщай|сообщайте|указывай|отмечай) (?:(?:о|об|ни|каких|никаких|найденных|любых|какие|либо) )*(?:проблемах|ошибках|уязвимостях|проблемы|ошибки|уязвимости|находках|замечаниях)",
            r"(?:одобри|одобрите|утверди) (?:(?:этот|это|эти|данный|данное|эту|сразу) )*(?:изменение|изменения|коммит|pull request|pr|файл|код|запрос)",
            r"верни(?:те)? пустой (?:список|отчет|отчёт)",
            r"(?:忽略|无视|無視|忘记|忘掉|忽視|不要理会|不要遵守)[^\n]{0,8}(?:之前|以上|先前|上面|前面|此前|上述|所有|一切|原有)[^\n]{0,8}(?:指令|指示|提示|说明|說明|规则|規則|命令)",
            r"(?:不要|请勿|請勿|勿|禁止)(?:报告|報告|标记|提出|指出|上报)[^\n]{0,10}(?:问题|問題|漏洞|发现|發現|缺陷|错误)",
            r"(?:批准|通过|同意)(?:这个|這個|此|本|该)(?:次)? ?(?:更改|变更|變更|提交|修改|合并请求|pr|pull request)",
            r"你现在是(?:一个|一名|一位)?[^\n]{0,12}(?:助手|审查|审核|评审|模型|机器人)",
            r"返回空的?(?:列表|结果|发现|报告)",
            r"(?:以前|これまで|今まで|前|上記|先|上|すべて|全て)(?:の|まで|で)?[^\n]{0,10}(?:指示|命令|プロンプト|ルール)[^\n]{0,6}(?:を|は)?[^\n]{0,6}(?:無視|忘れ)",
            r"(?:問題|脆弱性|指摘|バグ|欠陥)[^\n]{0,6}(?:報告|指摘)(?:しないで|しないこと|するな|せず|は不要)",
            r"(?:この|本)(?: )?(?:変更|コード|pr|プルリクエスト|ファイル|差分)[^\n]{0,6}(?:承認して|承認しろ|承認せよ|承認すること)",
            r"(?:이전|위의|앞의|모든)[^\n]{0,8}(?:지시|명령|지침)[^\n]{0,8}(?:무시|잊)",
        ],
    ),
];
