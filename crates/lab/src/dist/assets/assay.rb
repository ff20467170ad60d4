class Assay < Formula
  desc "@SUMMARY@"
  homepage "@URL@"
  version "@VERSION@"
  license @LICENSE@

@BLOCKS@

  depends_on "git"

  def install
    bin.install "assay"
    man1.install Dir["man/*.1"]
    bash_completion.install "completions/assay.bash" => "assay"
    fish_completion.install "completions/assay.fish"
    zsh_completion.install "completions/_assay"
    doc.install "THIRD-PARTY-LICENSES.txt", "assay.cdx.json"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/assay --version")
  end
end
